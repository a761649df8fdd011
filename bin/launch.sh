# Sourced by the launchers beside it, with $here their folder. Runs a TypeScript file with a Node that is new enough.
# The Node of our own dependency comes first: its version is the tested one, and asking another for its version costs 40 ms a start.

root=$(cd "$here/.." && pwd -P)
# Of Node; nothing that the environment has under these names.
flags=
run_as=

find_node() {
  # npm brings the one for this machine; below us in a checkout, beside us when installed as a package.
  for node in "$root"/node_modules/node-linux-*/bin/node "$root"/../node-linux-*/bin/node; do
    [ -x "$node" ] && return
  done
  # What V8 of another version knows is not certain.
  flags=
  if node=$(command -v node) && [ "$("$node" -p 'Number(process.versions.node.split(".")[0]) >= 26')" = true ]; then
    return
  fi
  echo "${0##*/}: needs Node 26 or newer: run \"npm ci\" in $root, which brings it, or put one on PATH" >&2
  exit 1
}

# program NAME: what "npm run build" wrote unless a source is newer, else what is built here from the sources (2 s after an edit), else the sources
# themselves. An installed package has nothing but the first, wherever it lies; below node_modules Node strips no types. DECKHAND_RUN=sources leaves out
# what "npm run build" wrote; DECKHAND_RUN=built takes it without looking for edits, as an installed package does; DECKHAND_RUN=files runs each source file by itself, for tests that reach into a program.
program() {
  source=$root/src/$1.ts
  case $root in */node_modules/*) source= ;; esac
  case ${DECKHAND_RUN:-} in
    files) ;;
    built) source= ;;
    sources) build_edited "$1" && return ;;
    *) is_current "$1" dist made && return || build_edited "$1" && return ;;
  esac
  echo "${source:-$root/dist/$1.js}"
}

# is_current NAME FOLDER MARKER: says which file of the folder is the program, if that was built after the last edit or there is nothing to edit.
is_current() {
  [ -e "$root/$2/$1.js" ] || return
  [ -e "$source" ] && { newer=$(find "$root/src" -newer "$root/$2/$3" -print -quit 2> /dev/null) && [ -z "$newer" ] || return; }
  echo "$root/$2/$1.js"
}

build_edited() {
  is_current "$1" .built "$1.made" && return
  [ -w "$root" ] && [ -e "$source" ] && find_node && NODE_OPTIONS= "$node" "$root/tools/build-edited.ts" "$1" > /dev/null 2>&1 && is_current "$1" .built "$1.made"
}

# One malloc arena that gives memory back, and none of the collections that V8 makes half a minute after each start: docs/decisions/0009-memory.md has
# the measurements.
save_memory() {
  flags=--no-memory-reducer
  MALLOC_ARENA_MAX=1 MALLOC_TRIM_THRESHOLD_=131072 MALLOC_MMAP_THRESHOLD_=65536
  export MALLOC_ARENA_MAX MALLOC_TRIM_THRESHOLD_ MALLOC_MMAP_THRESHOLD_
}

# name_node NAME: has Node run under a link of that name. pidof of Debian, the e2e suite of Kubernetes and monitors look at the first argument, not at
# the comm that the agent gives itself. Where no link can be made, Node runs under its own name.
name_node() {
  find_node
  named=$root/.cache/run/$1
  [ "$named" -ef "$node" ] || {
    mkdir -p "$root/.cache/run" && ln -s "$node" "$named.$$" && mv -f "$named.$$" "$named"
  } 2> /dev/null || return 0
  [ -x "$named" ] && run_as=$named
}

# run_node FILE ARGUMENT...: the compile cache keeps compiled code between starts. That of built files goes with them, or it would grow with each build.
run_node() {
  find_node
  cache=$root/.cache/compile
  case ${1:-} in
    "$root"/dist/*) cache=$root/dist/compiled ;;
    "$root"/.built/*) cache=$root/.built/compiled ;;
  esac
  # Below us it comes from a launcher that started this one, perhaps for other files.
  case ${NODE_COMPILE_CACHE:-} in
    '' | "$root"/*) NODE_COMPILE_CACHE=$cache ;;
  esac
  export NODE_COMPILE_CACHE
  exec "${run_as:-$node}" $flags "$@"
}
