import type { ImageSource } from './oci-archive.ts'

/** What every pod's sandbox runs. */
export const PAUSE_IMAGE = 'deckhand.local/pause:1'

/** A small userland for examples and tests. */
export const BUSYBOX_IMAGE = 'deckhand.local/busybox:1'

/** The programs of the machine that the images are made of; both are static binaries. */
export interface ImagePrograms {
  readonly catatonit: Uint8Array
  readonly busybox: Uint8Array
  /** What "busybox --list" says. */
  readonly applets: readonly string[]
  /** False for a wget that crashes when it is asked for a limit in time, as that of Debian 12 does. */
  readonly hasWgetTimeout: boolean
}

/** The images that a node needs before it has seen any registry. */
export function createNodeImages({
  catatonit,
  busybox,
  applets,
  hasWgetTimeout,
}: ImagePrograms): readonly ImageSource[] {
  return [
    {
      name: PAUSE_IMAGE,
      files: [{ kind: 'file', path: 'pause', content: catatonit, mode: 0o755 }],
      entrypoint: ['/pause', '-P'],
      // In pause mode SIGINT is what it leaves on.
      stopSignal: 'SIGINT',
    },
    {
      name: BUSYBOX_IMAGE,
      files: [
        ...['bin', 'etc', 'home', 'root', 'var'].map((path) => ({ kind: 'folder', path, mode: 0o755 }) as const),
        { kind: 'folder', path: 'tmp', mode: 0o1777 },
        { kind: 'file', path: 'bin/busybox', content: busybox, mode: 0o755 },
        ...applets
          .filter((applet) => applet !== 'busybox' && (applet !== 'wget' || hasWgetTimeout))
          .map((applet) => ({ kind: 'symlink', path: `bin/${applet}`, target: 'busybox' }) as const),
        ...(hasWgetTimeout ? [] : [{ ...textFile('bin/wget', LIMITED_WGET), mode: 0o755 }]),
        textFile('etc/passwd', 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/home:/bin/false\n'),
        textFile('etc/group', 'root:x:0:\nnogroup:x:65534:\n'),
      ],
      command: ['/bin/sh'],
      environment: ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
    },
  ]
}

/** The limit is one for all of wget's work, and kept by another program. */
const LIMITED_WGET = `#!/bin/sh
limit=
count=$#
while [ "$count" -gt 0 ]; do
  argument=$1
  shift
  count=$((count - 1))
  case $argument in
    -T | --timeout) limit=$1; shift; count=$((count - 1)) ;;
    -[cqS]T | -[cqS][cqS]T) limit=$1; shift; count=$((count - 1)); set -- "$@" "\${argument%T}" ;;
    -T*) limit=\${argument#-T} ;;
    --timeout=*) limit=\${argument#--timeout=} ;;
    *) set -- "$@" "$argument" ;;
  esac
done
[ -z "$limit" ] || exec busybox timeout "$limit" busybox wget "$@"
exec busybox wget "$@"
`

function textFile(path: string, text: string) {
  return { kind: 'file', path, content: Buffer.from(text), mode: 0o644 } as const
}
