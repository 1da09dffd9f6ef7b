# Says where this image's programs look for programs, modules and settings: KIND PATH, a line each,
# by the name that they use and by where it leads. Run in a container in which nobody acted.

say() {
  while read -r path; do
    case "$path" in
      /?*) ;;
      *) continue ;;
    esac
    echo "$1 $path"
    real=$(readlink -f "$path" 2> /dev/null)
    case "$real" in
      "$path" | "") ;;
      *) echo "$1 $real" ;;
    esac
  done
}

# Variables of the image may lead into the workspace, where the modules are the agent's work.
modules() {
  PYTHONPATH="" PYTHONDONTWRITEBYTECODE=1 "$1" -c '
import os, site, sys
try:
    from sysconfig import get_path
except ImportError:
    get_path = lambda name: None
packages = [get_path("purelib"), get_path("platlib")]
for name in ("getsitepackages", "getusersitepackages"):
    found = getattr(site, name, list)()
    packages += [found] if isinstance(found, str) else found
closed = [get_path("stdlib"), get_path("platstdlib"), os.path.dirname(os.__file__)]
closed += [place for place in sys.path if place.endswith(".zip")]
for kind, places in (("packages", packages), ("closed", closed)):
    for place in sorted(set(filter(None, places))):
        print(kind + " " + place)
' | while read -r kind path; do echo "$path" | say "$kind"; done
}

{ echo "$PATH" | tr : '\n'; printf '%s\n' /usr/local/sbin /usr/local/bin /usr/sbin /usr/bin /sbin /bin; } |
  say programs
[ -f /etc/passwd ] && head -c 1000000 /etc/passwd | cut -d : -f 6 | sort -u | say homes
PERL5LIB="" PERL5OPT="" perl -e 'print "$_\n" for @INC' 2> /dev/null | say closed
RUBYLIB="" RUBYOPT="" ruby -e 'puts $:' 2> /dev/null | say closed

# Names of the path may be links to where the programs really are.
linked=$(for name in sh bash pytest python python3 perl ruby node java php lua Rscript julia go git; do
  found=$(command -v "$name") && real=$(readlink -f "$found" 2> /dev/null) && echo "${real%/*}"
done | sort -u)
printf '%s\n' "$linked" | say programs

configs=$(find / -xdev -maxdepth 6 -name pyvenv.cfg -type f 2> /dev/null | head -n 100)
printf '%s\n' "$configs" | say closed
printf '%s\n' "$configs" | sed 's|/pyvenv.cfg$|/bin|' | say programs
{ echo "$PATH" | tr : '\n'
  printf '%s\n' /usr/local/bin /usr/bin "$linked" "$configs" | sed 's|/pyvenv.cfg$|/bin|'; } |
  sort -u | while read -r folder; do
  asked=
  for python in "$folder"/python3 "$folder"/python "$folder"/python[0-9] "$folder"/python[0-9].* \
    "$folder"/pypy*; do
    real=$(readlink -f "$python" 2> /dev/null)
    case " $asked " in *" $real "*) continue ;; esac
    case "$python" in *-config) continue ;; esac
    [ -x "$python" ] && asked="$asked $real" && echo "${real%/*}" | say programs
    [ -x "$python" ] && modules "$python" 2> /dev/null < /dev/null
  done
done
