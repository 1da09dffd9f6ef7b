# Functions of the script that puts an agent's files in place, run by the image's own shell in a new
# container. STAGED is where a file waits, PATH where it belongs.

# program FOLDER PATH, module MODULE PATH, library FOLDER PATH, perl NAME PATH: whether the image has
# its own of that name. A folder with a Python in it is that Python's: its pip and pytest are the
# image's, where another folder's programs may be the task.

program() {
  (PATH=$programs; command -v "${2##*/}") > /dev/null 2>&1 && return 0
  { [ -e "$1/python3" ] || [ -e "$1/python" ]; } && [ -e "$2" ]
}
# At each step of the way to PATH: a folder would be imported in place of a module of the image's,
# a compiled module in place of one in Python, an __init__ in a folder that has none.
module() {
  [ -e "$2" ] && return 0
  at=$2
  while [ "$at" != "${1%/*}" ]; do
    parent=${at%/*}; name=${at##*/}; name=${name%%.*}; at=$parent
    [ "$name" = __init__ ] && [ -d "$parent" ] && return 0
    if [ ! -d "$parent/$name" ]; then
      for other in "$parent/$name".py "$parent/$name".*.so "$parent/$name".so; do
        [ -e "$other" ] && return 0
      done
    fi
  done
  return 1
}
library() {
  for place in /lib /lib64 /usr/lib /usr/lib64 /usr/local/lib /lib/*-linux-* /usr/lib/*-linux-*; do
    [ -e "$place/${2##*/}" ] && return 0
  done
  [ -e "$2" ]
}
perl() {
  for place in /usr/share/perl* /usr/share/perl/* /usr/lib/*/perl* /usr/lib/*/perl/* \
    /usr/lib/*/perl5/* /usr/local/lib/perl5/* /usr/local/lib/perl5/*/*; do
    [ -e "$place/$1" ] && return 0
  done
  [ -e "$2" ]
}
# answer PATH: a link goes that leads to the verifier's or the arena's own, whatever its way.
answer() {
  case "$(readlink -f "$1")" in
    / | /verifier | /verifier/* | /tests | /tests/* | /logs | /logs/* | /proc/*) rm -f "$1" ;;
  esac
}
# folder PATH MODE OWNER: a folder of the image as the agent left it.
folder() {
  if [ ! -d "$1" ] || [ -L "$1" ]; then rm -rf "$1"; mkdir -p "$1"; fi
  chmod "$2" "$1"; chown "$3" "$1"
}
# back PATH STAGED: the image's own stands.
back() {
  rm -rf "$2"
  if [ -e "$1" ] || [ -L "$1" ]; then mkdir -p "${2%/*}/"; cp -a "$1" "$2"; fi
}
# place STAGED PATH. A path that cannot be removed is a volume: its content is replaced.
place() {
  rm -rf "$2" 2> /dev/null
  if [ -d "$2" ] && [ ! -L "$2" ]; then cp -a "$1/." "$2/"
  elif [ -e "$1" ] || [ -L "$1" ]; then mkdir -p "${2%/*}/"; mv "$1" "$2"; fi
}
