import type { TarEntry } from './tar.ts'

/** Where the program is that "busybox" and the names of its applets lead to. */
const PROGRAM = 'lib/busybox/busybox'
/** The same program as it was, which "wget" runs: its messages begin with the name of the applet. */
const ORIGINAL = 'lib/wget/busybox'
// Of the same length, and at the same place in the order of all names.
const HIDDEN_NAMES = new Map([
  ['wget', 'wgeT'],
  ['busybox', 'busyboX'],
])

/** The busybox of an image: the program, and where links to its applets lead. */
export interface BusyboxFiles {
  readonly files: readonly TarEntry[]
  /** Relative to the folder of the links. */
  readonly target: string
}

/**
 * A busybox whose wget takes a limit in time, made of one that crashes when it is given one. Its shell, xargs and
 * others prefer their own applets to programs, so the applet gets another name and "wget" is a program in every case.
 */
export function limitWget(busybox: Uint8Array, applets: readonly string[]): BusyboxFiles | undefined {
  const program = Buffer.from(busybox)
  // The names as busybox itself has them.
  const place = program.indexOf(applets.join('\0'))
  if (place === -1) return undefined
  program.write(applets.map((name) => HIDDEN_NAMES.get(name) ?? name).join('\0'), place)
  return {
    target: `../${PROGRAM}`,
    files: [
      { kind: 'folder', path: 'lib', mode: 0o755 },
      { kind: 'folder', path: 'lib/busybox', mode: 0o755 },
      { kind: 'file', path: PROGRAM, content: program, mode: 0o755 },
      { kind: 'folder', path: 'lib/wget', mode: 0o755 },
      { kind: 'file', path: ORIGINAL, content: busybox, mode: 0o755 },
      { kind: 'file', path: 'bin/busybox', content: Buffer.from(BUSYBOX), mode: 0o755 },
      { kind: 'file', path: 'bin/wget', content: Buffer.from(WGET), mode: 0o755 },
    ],
  }
}

const BUSYBOX = `#!/bin/sh
if [ "$1" = wget ]; then shift; exec wget "$@"; fi
exec /${PROGRAM} "$@"
`

/** The limit is one for all of wget's work, and kept by another program. */
const WGET = `#!/bin/sh
busybox=/${ORIGINAL}
limit=
count=$#
while [ "$count" -gt 0 ]; do
  argument=$1
  shift
  count=$((count - 1))
  case $argument in
    -T | --timeout) limit=$1; shift; count=$((count - 1)) ;;
    -[cqS]T | -[cqS][cqS]T) limit=$1; shift; count=$((count - 1)); set -- "$@" "\${argument%T}" ;;
    -[cqS]T* | -[cqS][cqS]T*) limit=\${argument#*T}; set -- "$@" "\${argument%%T*}" ;;
    -T*) limit=\${argument#-T} ;;
    --timeout=*) limit=\${argument#--timeout=} ;;
    *) set -- "$@" "$argument" ;;
  esac
done
[ -n "$limit" ] || exec $busybox wget "$@"
$busybox timeout "$limit" $busybox wget "$@"
code=$?
# SIGTERM ended it.
[ $code -eq 143 ] || exit $code
echo 'wget: download timed out' >&2
exit 1
`
