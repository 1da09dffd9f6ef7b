#!/usr/bin/env bash
# Runs the oracle and the untouched environment of task packages with bash and Docker alone:
#
#   scripts/run_local.sh PACKAGE...
#
# The same contract and verdicts as `arena replay`. Times and limits are read from the block form of
# task.md that docs/spec/task-package.md shows; anything else is for `arena replay`. It is for
# packages of one's own: the guards that `arena replay` has against hostile ones are not all here.
# Exit 0: all proven; 1: not all; 2: wrong usage, or a form that is not read here.
set -euo pipefail

readonly PIDS=256 OPEN_FILES=4096 MAX_REWARD_BYTES=65536
readonly NUMBER='[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?'
readonly HOSTS="[ -s /etc/hosts ] || printf '127.0.0.1 localhost\n::1 localhost\n' > /etc/hosts"
readonly SETTINGS='bash[a-z_]*|profile|z[a-z]+|[a-z]*shrc|shinit|pythonrc\.py|perldb|Rprofile|Renviron'\
'|(irb|pry|octave|sqlite|psql|curl|wget|vim|ex|nano|screen|npm|yarn|hg)rc|my\.cnf'\
'|gdbinit|lldbinit|tmux\.conf|pip|gitconfig|node_modules|node_libraries|julia/config'\
'|jq|duckdbrc|rspec|proverc|ipython|guile|sbclrc|ghci|ocamlinit|parallel'\
'|config/(fish|sqlite3|pip|uv|git|gdb|julia|python|go|duckdb|rspec)'
readonly STARTS_BY_ITSELF="^[AC] ((/root|/home/[^/]+)/\.($SETTINGS)(/.*)?"\
'|.*\.pth|.*/(site|user)customize[^/]*)$'
readonly OWNER='{{index .Config.Labels "org.posttrain-arena.owner"}}'
# Why a build failed. The author's doing is looked for first: it quotes what they wrote.
readonly AUTHORS='(^|: )dockerfile parse error|exit code: [0-9]+$|: not found$'
readonly TROUBLE='toomanyrequests|too many requests|i/o timeout|handshake timeout|no such host'\
'|dial tcp|connection (refused|reset)|deadline exceeded|Client\.Timeout|(^|[^A-Za-z])EOF$'\
'|50[0-9] (internal|bad|service|gateway)|response status (429|50[0-9])|server misbehaving'\
'|no space left on device|input/output error'\
'|network [^ ]+ not found|cannot connect to the docker daemon|error during connect'\
'|transport is closing|code = Unavailable|context canceled'
# A name that no public registry can have (RFC 2606), where the engine speaks of a host.
readonly MADE_UP='(https?://|(^|[^A-Za-z])(lookup|host) )([A-Za-z0-9_.-]*\.)?(invalid|example|test)([^A-Za-z0-9_.-]|$)'
readonly HUBS='^(.*\.)?docker\.(io|com)$|cloudflarestorage\.com$'
# Whether this machine reaches registries at all is asked about this image.
well_known=docker.io/library/busybox:latest
export COPYFILE_DISABLE=1 # no ._ files of macOS in an archive
containers=()
images=()
building=''

clean_up() {
  [ -z "$building" ] || kill "$building" 2> /dev/null || true
  if [ "${#containers[@]}" -gt 0 ]; then docker rm -f "${containers[@]}" > /dev/null 2>&1 || true; fi
  if [ "${#images[@]}" -gt 0 ]; then docker rmi "${images[@]}" > /dev/null 2>&1 || true; fi
  rm -rf "$work"
}

# When a process started, in whatever unit the system counts; empty where there is none.
start_of_process() { # PID
  if [ -e /proc/self ]; then
    sed 's/.*) //' "/proc/$1/stat" 2> /dev/null | cut -d ' ' -f 20
  else
    ps -o lstart= -p "$1" || true
  fi
}

# Whether the process of an owner's label, as the arena writes it, may still live.
is_alive() { # HOST|PID|START
  local host pid started
  IFS='|' read -r host pid started <<< "$1"
  if [ "$host" != "$(uname -n)" ]; then [ -n "$host" ]; return; fi
  [ -n "$started" ] && [ "$(start_of_process "$pid")" = "$started" ]
}

# Remove what runs left that were killed before they could: sweep FOLDER
sweep() {
  local one
  for one in $(docker ps -aq --filter label=org.posttrain-arena=local); do
    is_alive "$(docker inspect --format "$OWNER" "$one" 2> /dev/null)" || docker rm -fv "$one"
  done
  for one in $(docker images -q --filter label=org.posttrain-arena=local | sort -u); do
    is_alive "$(docker inspect --format "$OWNER" "$one" 2> /dev/null)" || docker rmi -f "$one"
  done
  for one in "$1"/posttrain-arena-local.*; do
    [ -f "$one/owner" ] && ! is_alive "$(cat "$one/owner")" && rm -rf "$one"
  done
}

not_read_here() {
  echo "$1: $2 is not read here; use: arena replay $1" >&2
  exit 2
}

# `set -e` is off inside a condition, so every call that must work says what follows if it fails.
# It is the image's doing where a container of an empty one starts, in which is the engine's own init.
engine_failed() { # WHAT
  if others_start; then
    reward="none (no container starts in the package's image, while others do: $1 failed)"
    return
  fi
  echo "$package: the engine failed at: $1" >&2
  exit 1
}

others_start() {
  local probe=posttrain-arena/local:$$-empty-${#images[@]} id
  images+=("$probe")
  head -c 1024 /dev/zero | docker import --change "LABEL ${labels[1]}" \
    --change "LABEL ${labels[3]%%=*}=\"${labels[3]#*=}\"" - "$probe" > /dev/null 2>&1 || return 1
  id=$(docker create "${labels[@]}" --network "$network" --init --entrypoint /sbin/docker-init \
    "$probe" --version 2> /dev/null) || return 1
  containers+=("$id")
  docker start "$id" > /dev/null 2>&1
}

# The front matter's limits as NAME=VALUE lines; a line that begins with `!` names what is unknown.
read_limits() {
  awk '
    function plain(text) { sub(/[ \t]+#.*$/, "", text); gsub(/^[ \t]+|[ \t]+$/, "", text); return text }
    NR == 1 { if ($0 !~ /^---[ \t]*$/) { print "!a file without front matter"; exit } next }
    /^---[ \t]*$/ { exit }
    /^[ \t]*(#.*)?$/ { next }
    /\t/ { print "!a tab"; exit }
    /^[^ ]/ {
      if ($0 !~ /^[a-z_]+:/) { if (section == "artifacts" && $0 ~ /^- /) { print "artifact=" plain(substr($0, 3)); next }
        print "!the line " $0; exit }
      section = substr($0, 1, index($0, ":") - 1); rest = plain(substr($0, index($0, ":") + 1))
      if (section == "sandbox") { print "!the spelling sandbox"; exit }
      if (section ~ /^(agent|verifier|environment)$/ && rest != "") { print "!" section ": " rest; exit }
      if (section == "artifacts" && rest != "") {
        if (rest !~ /^\[[^\[\]{}"\047]*\]$/) { print "!artifacts: " rest; exit }
        n = split(substr(rest, 2, length(rest) - 2), parts, ",")
        for (i = 1; i <= n; i++) if (plain(parts[i]) != "") print "artifact=" plain(parts[i])
      }
      next
    }
    section == "artifacts" && /^ +- / { sub(/^ +- /, ""); print "artifact=" plain($0); next }
    section ~ /^(agent|verifier|environment)$/ {
      if ($0 !~ /^  [a-z_]+:/) { print "!the line " $0; exit }
      key = substr($0, 3, index($0, ":") - 3); value = plain(substr($0, index($0, ":") + 1))
      if (key ~ /^(network_mode|allowed_hosts|services)$/) { print "!" key; exit }
      if (key == "environment_mode" && value != "separate") { print "!" key ": " value; exit }
      if (section == "agent" && key == "user") {
        if (value !~ /^[A-Za-z0-9_][A-Za-z0-9_.:-]*$/) { print "!" key ": " value; exit }
        print "agent.user=" value
      }
      if (key ~ /^(timeout_sec|build_timeout_sec|cpus|memory_mb|storage_mb|allow_internet)$/) {
        if (value !~ /^([0-9]+(\.[0-9]+)?|true|false)$/) { print "!" key ": " value; exit }
        print section "." key "=" value
      }
    }
  ' "$1/task.md"
}

limit() { # NAME DEFAULT
  local value
  value=$(sed -n "s/^$1=//p" "$work/limits")
  echo "${value:-$2}"
}

# A container with every limit on it, that has not started: create IMAGE COMMAND [OPTION...]
create() {
  local image=$1 command=$2 memory storage cpus id
  shift 2
  memory=$(limit environment.memory_mb 2048)m
  storage=$(( $(limit environment.storage_mb 10240) * 1048576 ))
  cpus=$(awk -v a="$(limit environment.cpus 1)" -v b="$processors" 'BEGIN { print (a < b) ? a : b }')
  id=$(docker create "${labels[@]}" --network "$network" --user 0 --init \
    --cap-drop ALL --cap-add CHOWN --cap-add DAC_OVERRIDE --cap-add FOWNER --cap-add SETGID \
    --cap-add SETUID --security-opt no-new-privileges --memory "$memory" --memory-swap "$memory" \
    --cpus "$cpus" --pids-limit $PIDS --ulimit core=0 --ulimit nofile=$OPEN_FILES \
    --ulimit fsize="$storage" --no-healthcheck --entrypoint sh "$@" "$image" -c "$command") ||
    { engine_failed 'docker create'; return 1; }
  containers+=("$id")
  created=$id
}

# A folder of the package, with the modes that the arena gives: put FOLDER CONTAINER PLACE
put() {
  rm -rf "$work/put" && mkdir "$work/put" && cp -R "$1/." "$work/put/" && chmod -R 755 "$work/put"
  docker cp "$work/put" "$2:$3" > /dev/null || { engine_failed 'docker cp'; return 1; }
}

start_of() { # FOLDER SCRIPT PLACE: how a shell starts it, by its first line, else with sh
  if [ "$(head -c 2 "$1/$2")" = '#!' ]; then echo "'$3/$2'"; else echo "sh '$3/$2'"; fi
}

# The agent's part: act KIND IMAGE; its container's id stands in $created, or nothing ran.
act() {
  created=''
  [ "$1" = oracle ] || return 0
  create "$2" "$HOSTS; exec sleep 86400" || return 1
  put "$package/oracle" "$created" /oracle || return 1
  [ -L "$work/solution" ] || ln -s /oracle "$work/solution"
  docker cp "$work/solution" "$created:/solution" > /dev/null || { engine_failed 'docker cp'; return 1; }
  docker start "$created" > /dev/null || { engine_failed 'docker start'; return 1; }
  local run user
  run="exec $(start_of "$package/oracle" solve.sh /oracle)"
  user=$(limit agent.user "$(docker image inspect --format '{{.Config.User}}' "$2")")
  timeout -k 5 "$(limit agent.timeout_sec 900)" docker exec -u "${user:-0}" "$created" sh -c "$run" \
    > "$work/oracle.log" 2>&1 < /dev/null || true
  docker kill "$created" > /dev/null 2>&1 || true
}

paths_to_carry() { # IMAGE
  if grep -q '^artifact=' "$work/limits"; then sed -n 's/^artifact=//p' "$work/limits"; return; fi
  local workdir
  workdir=$(docker image inspect --format '{{.Config.WorkingDir}}' "$1")
  echo /root
  case "$workdir/" in //* | /root/*) ;; *) echo "$workdir" ;; esac
}

# verify IMAGE AGENT-CONTAINER: the reward, or a word that is no number with its reason, in $reward
verify() {
  local image=$1 agent=$2 script="$HOSTS; cd /; rm -rf /logs; mkdir -p /logs/verifier" index=0 path
  local workdir place stage=/.arena-carried
  workdir=$(docker image inspect --format '{{.Config.WorkingDir}}' "$image")
  mkdir -p "$work/stage"
  if [ -n "$agent" ]; then
    if docker diff "$agent" | grep -qE "$STARTS_BY_ITSELF"; then
      not_read_here "$package" 'an oracle that changes start-up files'
    fi
    while read -r path; do
      if docker cp "$agent:$path" - > "$work/carried.$index.tar" 2> /dev/null; then
        mkdir -p "$work/stage/$index"
      fi
      place="$stage/$index/$(basename "$path")"
      script+="; rm -rf '$path' 2>/dev/null; if [ -d '$path' ]; then cp -a '$place/.' '$path/'"
      script+="; elif [ -e '$place' ]; then mkdir -p '$(dirname "$path")'; mv '$place' '$path'; fi"
      index=$((index + 1))
    done < <(paths_to_carry "$image")
  fi
  script+="; rm -rf $stage; [ -e /tests ] || ln -s /verifier /tests; cd '${workdir:-/}' 2>/dev/null"
  script+="; exec $(start_of "$package/verifier" test.sh /verifier)"
  create "$image" "$script" -e BENCHFLOW_WORKSPACE=/root -e BENCHFLOW_VERIFIER_DIR=/verifier \
    -e BENCHFLOW_REWARD_TEXT=/logs/verifier/reward.txt \
    -e BENCHFLOW_REWARD_JSON=/logs/verifier/reward.json \
    -e BENCHFLOW_REWARD_DETAILS_JSON=/logs/verifier/reward-details.json \
    -e BENCHFLOW_CTRF_JSON=/logs/verifier/ctrf.json -e BENCHFLOW_PYTEST_BIN=pytest \
    -e PYTHONNOUSERSITE=1 || return 1
  put "$package/verifier" "$created" /verifier || return 1
  docker cp "$work/stage" "$created:$stage" > /dev/null || { engine_failed 'docker cp'; return 1; }
  rm -rf "$work/stage"
  for ((index -= 1; index >= 0; index--)); do
    if [ -s "$work/carried.$index.tar" ]; then
      docker cp - "$created:$stage/$index" < "$work/carried.$index.tar" > /dev/null ||
        { engine_failed 'docker cp'; return 1; }
    fi
    rm -f "$work/carried.$index.tar"
  done
  if ! timeout -k 5 "$(limit verifier.timeout_sec 600)" docker start -a "$created" \
      > "$work/verifier.log" 2>&1 < /dev/null; then
    if [ "$(docker inspect --format '{{.State.Running}}' "$created")" = true ]; then
      docker kill "$created" > /dev/null 2>&1 || true
      reward='none (the verifier took too long)'
      return
    fi
  fi
  read_reward "$created"
}

read_reward() { # CONTAINER
  local text='' json='' keyed
  reward='none (the verifier wrote no reward)'
  if docker cp "$1:/logs/verifier/reward.txt" - > "$work/reward.tar" 2> /dev/null; then
    regular || { reward='none (reward.txt is no small regular file)'; return; }
    text=$(tar -xOf "$work/reward.tar" | tr -d '\000' | sed 's/^[[:space:]]*//;s/[[:space:]]*$//')
    in_range "$text" || { reward="none (reward.txt is no number from 0 to 1)"; return; }
    reward=$text
  fi
  if docker cp "$1:/logs/verifier/reward.json" - > "$work/reward.tar" 2> /dev/null; then
    regular || { reward='none (reward.json is no small regular file)'; return; }
    json=$(tar -xOf "$work/reward.tar" | tr '\n' ' ')
    keyed="\"[A-Za-z0-9_ -]*\"[[:space:]]*:[[:space:]]*-?[0-9.eE+-]+"
    if ! [[ $json =~ ^[[:space:]]*\{[[:space:]]*$keyed([[:space:]]*,[[:space:]]*$keyed)*[[:space:]]*\}[[:space:]]*$ ]]; then
      not_read_here "$package" 'a reward.json that is not flat numbers'
    fi
    json_reward
  fi
}

json_reward() { # of $json, compared with the one of reward.txt in $text
  local value count
  count=$(grep -o '"[^"]*"[[:space:]]*:' <<< "$json" | wc -l)
  value=$(sed -n 's/.*"reward"[[:space:]]*:[[:space:]]*\([-0-9.eE+]*\).*/\1/p' <<< "$json")
  if [ -z "$value" ] && [ "$count" = 1 ]; then
    value=$(grep -oE ':[[:space:]]*[-0-9.eE+]+' <<< "$json" | tr -d ': \t')
  fi
  [ -n "$value" ] || return 0
  in_range "$value" || { reward='none (reward.json has no number from 0 to 1)'; return; }
  if [ -n "$text" ] && ! same "$text" "$value"; then
    reward="none (reward.txt says $text, reward.json says $value)"
    return
  fi
  reward=$value
}

regular() {
  [ "$(tar -tvf "$work/reward.tar" | cut -c1)" = - ] &&
    [ "$(tar -xOf "$work/reward.tar" | wc -c)" -le $MAX_REWARD_BYTES ]
}

in_range() { [[ $1 =~ ^$NUMBER$ ]] && awk -v x="$1" 'BEGIN { exit !(x >= 0 && x <= 1) }'; }
same() { awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; exit !(d < 1e-9 && d > -1e-9) }'; }
solved() { in_range "$1" && awk -v x="$1" 'BEGIN { exit !(x >= 1) }'; }

trial() { # KIND IMAGE; leaves the reward in $reward, and what was said in KIND/
  mkdir -p "$work/$1"
  # What fails has left its reason in $reward.
  if act "$1" "$2"; then verify "$2" "$created" || true; fi
  find "$work" -maxdepth 1 -name '*.log' -exec mv {} "$work/$1/" \;
}

show_logs() { # FOLDER
  local log
  for log in "$1"/*.log; do
    [ -s "$log" ] && { echo "  $(basename "$log" .log):"; tail -n 15 "$log" | sed 's/^/    /'; }
  done
  return 0
}

# The verdict and whose trial shows it, judged in the order of `arena replay`: judge SOLVED IDLE
judge() {
  shown=oracle
  if [[ $1 = none* ]]; then verdict='no reward'
  elif [[ $2 = none* ]]; then verdict='no reward' shown=untouched
  elif ! solved "$1"; then verdict='oracle fails'
  elif solved "$2"; then verdict='untouched scores' shown=untouched
  else verdict=proven; fi
}

# The first docker command on the PATH that can use BuildKit: from 23 on that takes its plugin.
docker_command() {
  local one version
  while read -r one; do
    version=$("$one" --version 2> /dev/null | sed -n 's/^Docker version \([0-9]*\)\..*/\1/p')
    if [ -n "$version" ] && { [ "$version" -lt 23 ] || "$one" buildx version > /dev/null 2>&1; }; then
      echo "$one"
      return
    fi
  done < <(type -aP docker)
}

# What the engine is too old for, or nothing; the same words as `arena replay`'s.
too_old_for() { # PACKAGE
  local major
  major=$(sed -n 's/^\([1-9][0-9]*\)\..*/\1/p' <<< "$engine")
  [ -n "$major" ] || return 0
  LC_ALL=C awk -v major="$major" -v engine="$engine" '
    function needs(version, what) {
      if (major >= version || told++) return
      printf "environment/Dockerfile, line %d: %s needs a Docker engine of version %d or newer; ",
        first, what, version
      print "this one is " engine
    }
    function word(text) { sub(/[ \t].*/, "", text); return toupper(text) }
    function instruction(text,   name, flag) {
      name = word(text); text = substr(text, length(name) + 1)
      while (match(text, /^[ \t]+--[a-z-]+(=[^ \t]*)?/)) {
        flag = substr(text, 1, RLENGTH); text = substr(text, RLENGTH + 1)
        gsub(/^[ \t]+--|=.*/, "", flag); flag = name " --" flag
        if (flag ~ /^((ADD|COPY) --link|RUN --network)$/) needs(23, flag)
        if (flag ~ /^(ADD --checksum|HEALTHCHECK --start-interval)$/) needs(25, flag)
      }
      sub(/^[ \t]+/, "", text)
      if ((name == "ONBUILD" ? word(text) : name) ~ /^(RUN|COPY|ADD)$/) heredocs(text)
    }
    function heredocs(text,   i, c, quote, part) {
      for (i = 1; i <= length(text) + 1; i++) {
        c = substr(text, i, 1)
        if (quote == "" && c ~ /^[ \t]?$/) {
          if (part ~ /^[0-9]*<<-?[^<]+$/) needs(23, "a here-document")
          part = ""
          continue
        }
        if (quote != "" && c == quote) quote = ""
        else if (quote == "" && c ~ /["\047]/) quote = c
        part = part c
      }
    }
    BEGIN { escape = "\\" }
    { sub(/[ \t\r]+$/, "") }
    !begun && tolower($0) ~ /^#[ \t]*escape[ \t]*=[ \t]*`$/ { escape = "`" }
    !/^#/ { begun = 1 }
    /^[ \t]*#/ || (whole != "" && $0 == "") { next }
    {
      if (whole == "") first = NR
      if ($0 != "" && substr($0, length($0)) == escape) {
        whole = whole substr($0, 1, length($0) - 1)
        next
      }
      whole = whole $0; sub(/^[ \t]+/, "", whole); instruction(whole); whole = ""
    }
  ' "$1/environment/Dockerfile"
}

# The build context that the arena makes: regular files, and a Dockerfile without syntax directive,
# which would have the engine fetch and run a program to read it. Fails where it is no Dockerfile.
stage_context() { # PACKAGE
  rm -rf "$work/context" && mkdir "$work/context" || return 1
  (cd "$1/environment" && find . -type f -print0 | tar --null -T - -cf -) |
    tar -xf - -C "$work/context" || return 1
  chmod -R u=rwX,go=rX "$work/context"
  LC_ALL=C awk '
    function name(line) { line = tolower(line); gsub(/[^a-z0-9=]/, "", line); return line }
    function flush(   i) {
      for (i = 1; i <= kept && (kept_line[i] ~ /^#!/ || name(kept_line[i]) ~ /^[a-z0-9]+=/); i++) print kept_line[i]
      for (j = 1; j <= moved; j++) { gsub(/^[ \t]+|[ \t\r]+$/, "", moved_line[j]); print "# not used here: " moved_line[j] }
      for (; i <= kept; i++) print kept_line[i]
      begun = 1
    }
    NR == 1 { sub(/^\357\273\277/, "") }
    begun { print; next }
    /^[ \t\r]*(#|$)/ { if (name($0) ~ /^syntax=/) moved_line[++moved] = $0; else kept_line[++kept] = $0; next }
    !/^[ \t]*[A-Za-z]/ { print "environment/Dockerfile, line " NR ": this is no instruction" > "/dev/stderr"; bad = 1; exit 1 }
    { flush(); print }
    END { if (!begun && !bad) flush() }
  ' "$1/environment/Dockerfile" > "$work/context/Dockerfile"
}

# The image of $package, by its name in $image; what was said in build.log, as it was in build.raw.
build() {
  local status=0
  image=posttrain-arena/local:$$-$((${#images[@]} + 1))
  images+=("$image")
  stage_context "$package" 2> "$work/build.log" || return 1
  # In the background, since a trap waits for what is in the foreground.
  tar -C "$work/context" -cf - . |
    DOCKER_BUILDKIT=1 BUILDX_NO_DEFAULT_ATTESTATIONS=1 \
      timeout -k 5 "$(limit environment.build_timeout_sec 600)" docker build --progress=plain \
      --network "$([ $network = none ] && echo none || echo default)" \
      --build-arg BUILDKIT_CACHE_MOUNT_NS="$image" \
      "${labels[@]}" --tag "$image" - > "$work/build.raw" 2>&1 &
  building=$!
  wait "$building" || status=$?
  building=''
  [ $status != 0 ] || return 0
  case $status in 124 | 137) echo 'ERROR: its time is up' >> "$work/build.raw" ;; esac
  sed -E -e '/^#[0-9]+ (sha256:|DONE|CACHED|\[internal\]|copy \/context \/|transferring )/d' \
    -e '/^$/d' -e 's/^#[0-9]+ ([0-9]+\.[0-9]+ )?//' "$work/build.raw" > "$work/build.log"
  return 1
}

# Build; where a registry that the author named has trouble, a few times.
build_patiently() {
  local pause
  for pause in 2 10; do
    if build; then return; fi
    [ -n "$(own_registry)" ] || return 1
    sleep "$pause"
  done
  build
}

last_word() { # of a build that failed
  (grep '^ERROR: ' "$work/build.raw" || grep . "$work/build.raw") 2> /dev/null | tail -n 1
}

# Whether the build failed for what is not the author's doing.
met_trouble() {
  local last
  last=$(last_word)
  ! grep -qiE "$AUTHORS|$MADE_UP" <<< "$last" && grep -qiE "$TROUBLE" <<< "$last"
}

# The registry or address that the build had trouble with, where the Dockerfile names it and it is
# not Docker Hub's; else nothing. BuildKit names no address where an ADD met a status.
own_registry() {
  local dockerfile=$package/environment/Dockerfile host
  met_trouble || return 0
  if last_word | grep -qE 'invalid response status [0-9]+'; then
    grep -iE '^[ \t]*ADD[ \t]' "$dockerfile" | grep -oE '[a-z]+://[^/ ]+' | head -n 1
    return 0
  fi
  last_word | grep -oE 'https?://[A-Za-z0-9_.-]+|(lookup|host) [A-Za-z0-9_.-]+' | sed 's/.*[ /]//' |
    while read -r host; do
      if grep -qiE "$HUBS" <<< "$host"; then return; fi
      if grep -qiF -- "$host" "$dockerfile"; then echo "$host"; return; fi
    done
}

others_answer() {
  local probe=posttrain-arena/local:$$-probe
  images+=("$probe")
  DOCKER_BUILDKIT=1 timeout 120 docker build --pull "${labels[@]}" \
    --tag "$probe" - <<< "FROM $well_known" > /dev/null 2>&1
}

not_run() { # VERDICT
  printf '%-40s %-8s %-10s %s\n' "$name" - - "$1"
}

run_package() {
  package=$1
  local name image reason solved_reward verdict shown
  name=$(basename "$(cd "$package" && pwd)")
  read_limits "$package" > "$work/limits"
  if grep -q '^!' "$work/limits"; then
    not_read_here "$package" "$(sed -n 's/^!//p' "$work/limits" | head -n 1)"
  fi
  network=none
  if [ "$(limit environment.allow_internet false)" = true ]; then network=bridge; fi
  rm -rf "$work"/*.log "$work/build.raw" "$work/oracle" "$work/untouched"
  reason=$(too_old_for "$package")
  if [ -n "$reason" ]; then
    not_run 'no engine'
    echo "  $reason"
    return 1
  fi
  if ! build_patiently; then
    reason=$(own_registry)
    if [ -n "$reason" ] && others_answer; then
      not_run 'not built'
      echo "  $reason does not answer as a registry should, while others do"
    elif met_trouble; then not_run 'no engine'
    else not_run 'not built'; fi
    show_logs "$work"
    return 1
  fi
  rm -f "$work"/*.log
  trial oracle "$image"
  solved_reward=$reward
  trial untouched "$image"
  judge "$solved_reward" "$reward"
  printf '%-40s %-8s %-10s %s\n' "$name" "${solved_reward%% *}" "${reward%% *}" "$verdict"
  [ "$verdict" = proven ] && return 0
  [ "$shown" = untouched ] || reward=$solved_reward
  case $reward in none*) echo "  ${reward#none }" ;; esac
  show_logs "$work/$shown"
  return 1
}

fail() {
  echo "$1" >&2
  exit 1
}

# A folder of this run's own in $work, and what its containers and images are told by.
begin() {
  local owner temporary=${TMPDIR:-/tmp}
  owner="$(uname -n)|$$|$(start_of_process $$)"
  labels=(--label org.posttrain-arena=local --label "org.posttrain-arena.owner=$owner")
  work=$(mktemp -d "$temporary/posttrain-arena-local.XXXXXX")
  trap 'clean_up' EXIT
  trap 'exit 130' INT TERM
  echo "$owner" > "$work/owner"
  sweep "$temporary" > /dev/null 2>&1 || true
}

main() {
  [ $# -gt 0 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
  local failed=0 one part
  for one in "$@"; do
    for part in task.md environment/Dockerfile verifier/test.sh oracle/solve.sh; do
      [ -f "$one/$part" ] || { echo "$one: $part is missing; see: arena check $one" >&2; exit 2; }
    done
  done
  docker=$(docker_command)
  [ -n "$docker" ] || fail \
    'No docker command that can build images: install it, from version 23 on with its buildx plugin.'
  PATH=$(dirname "$docker"):$PATH
  read -r processors engine < <(docker info --format '{{.NCPU}} {{.ServerVersion}}' 2> /dev/null) &&
    [ "${processors:-0}" -gt 0 ] || fail 'No Docker engine answers: start it, or set DOCKER_HOST.'
  begin
  printf '%-40s %-8s %-10s %s\n' package oracle untouched verdict
  for one in "$@"; do run_package "${one%/}" || failed=1; done
  return $failed
}

main "$@"
