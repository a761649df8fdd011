# Sourced by the launchers beside it, with $here their folder. Runs a TypeScript file with a Node that is new enough.
# The Node of our own dependency comes first: its version is the tested one, and asking another for its version costs 40 ms a start.

root=$(cd "$here/.." && pwd -P)

find_node() {
  # npm brings the one for this machine; below us in a checkout, beside us when installed as a package.
  for node in "$root"/node_modules/node-linux-*/bin/node "$root"/../node-linux-*/bin/node; do
    [ -x "$node" ] && return
  done
  if node=$(command -v node) && [ "$("$node" -p 'Number(process.versions.node.split(".")[0]) >= 26')" = true ]; then
    return
  fi
  echo "${0##*/}: needs Node 26 or newer: run \"npm ci\" in $root, which brings it, or put one on PATH" >&2
  exit 1
}

# program NAME: what "npm run build" wrote, which loads in half of the time, unless a source is newer or DECKHAND_RUN=sources says so (tests
# that reach into the agent need that). An installed package has nothing else, wherever it lies; below node_modules Node strips no types.
program() {
  built=$root/dist/$1.js
  [ -e "$root/src/$1.ts" ] || [ ! -e "$built" ] || { echo "$built"; return; }
  case $root in
    */node_modules/*) ;;
    *) [ "${DECKHAND_RUN:-}" != sources ] && [ -e "$built" ] && newer=$(find "$root/src" -newer "$root/dist/made" -print -quit 2> /dev/null) && [ -z "$newer" ] || built=$root/src/$1.ts ;;
  esac
  echo "$built"
}

# run_node FILE ARGUMENT...: the compile cache keeps compiled code between starts. That of built files goes with them, or it would grow with each build.
run_node() {
  find_node
  cache=$root/.cache/compile
  case ${1:-} in
    "$root"/dist/*) cache=$root/dist/compiled ;;
    # Hundreds of files leave much garbage at the start: with room for it, it is collected twice instead of eight times.
    "$root"/src/*) set -- --min-semi-space-size=8 --disable-warning=ExperimentalWarning --import "$root/tools/load-sources.ts" "$@" ;;
  esac
  # Below us it comes from a launcher that started this one, perhaps for other files.
  case ${NODE_COMPILE_CACHE:-} in
    '' | "$root"/*) NODE_COMPILE_CACHE=$cache ;;
  esac
  export NODE_COMPILE_CACHE
  exec "$node" "$@"
}
