# Functions of the script that puts an agent's files in place, run by the image's own shell in a new
# container. STAGED is where a file waits, PATH where it belongs.

# roots PATH STAGED: whether a list of users, other than the image's, makes more of them root. Who
# runs an agent's program as nobody would run it as root. A line that is not plain counts as well.
roots() {
  [ -f "$2" ] && [ ! -L "$2" ] || return 0
  while IFS= read -r line || [ -n "$line" ]; do
    case "$line" in "" | "#"*) continue ;; esac
    id=${line#*:*:}; id=${id%%:*}
    case "$line" in root:*:0:*) [ "$id" = 0 ] && continue ;; esac
    case "$id" in
      "" | *[!0-9]* | 0* | ??????????*) grep -qxF -e "$line" "$1" || return 0 ;;
    esac
  done < "$2"
  return 1
}
# program PATH, library PATH, module PATH REST: whether the image has its own of that name.
# A folder with a Python in it is that Python's: its pip and pytest are the image's, where another
# folder's programs may be the task.

program() {
  (PATH=$programs; command -v "${1##*/}") > /dev/null 2>&1 && return 0
  { [ -e "${1%/*}/python3" ] || [ -e "${1%/*}/python" ]; } && [ -e "$1" ]
}
library() {
  [ -e "$1" ] && return 0
  for place in /lib /lib64 /usr/lib /usr/lib64 /usr/local/lib /lib/*-linux-* /usr/lib/*-linux-*; do
    [ -e "$place/${1##*/}" ] && return 0
  done
  case "${1##*/}" in libnss_*) return 0 ;; esac
  return 1
}
# In any folder of packages: the one that stands first counts, whichever it is.
module() {
  [ -e "$1" ] && return 0
  before=$IFS; IFS=:; set -f; set -- "$2" $packages; set +f; IFS=$before
  rest=$1; shift
  for place in "$@"; do would_be "$place" "$rest" && return 0; done
  return 1
}
# would_be PLACE REST: whether REST would stand in for a module there, or come into a package that
# is whole: a folder without __init__ is one that others may add to.
would_be() {
  at=$1 left=$2
  while :; do
    step=${left%%/*}; name=${step%%.*}
    [ "$name" = __init__ ] && [ "$at" != "$1" ] && return 0
    for one in "$at/$name".py "$at/$name".*.so "$at/$name".so "$at/$name"/__init__.*; do
      [ -e "$one" ] && return 0
    done
    [ "$step" = "$left" ] && { [ -e "$at/$step" ]; return; }
    [ -d "$at/$step" ] || return 1
    at=$at/$step; left=${left#*/}
  done
}
# added PATH: a module of the agent's among the image's.
added() { printf '+%s\0' "$1" >> "$owners"; }
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
