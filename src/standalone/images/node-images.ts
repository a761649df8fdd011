import { limitWget } from './limited-wget.ts'
import type { BusyboxFiles } from './limited-wget.ts'
import type { ImageSource } from './oci-archive.ts'
import type { TarEntry } from './tar.ts'

/** What every pod's sandbox runs. */
export const PAUSE_IMAGE = 'deckhand.local/pause:1'

/** A small userland for examples and tests. */
export const BUSYBOX_IMAGE = 'deckhand.local/busybox:1'

/** The programs of the machine that the images are made of. */
export interface ImagePrograms {
  /** A static binary. */
  readonly catatonit: Uint8Array
  readonly busybox: Uint8Array
  /** What busybox loads at its start, by absolute path; nothing for a static one. */
  readonly libraries: ReadonlyMap<string, Uint8Array>
  /** What "busybox --list" says. */
  readonly applets: readonly string[]
  /** False for a wget that crashes when it is asked for a limit in time, as that of Debian 12 does. */
  readonly hasWgetTimeout: boolean
}

/** The images that a node needs before it has seen any registry. */
export function createNodeImages(programs: ImagePrograms): readonly ImageSource[] {
  const { catatonit, busybox, libraries, applets, hasWgetTimeout } = programs
  const { files, target } = (hasWgetTimeout ? undefined : limitWget(busybox, applets)) ?? plainBusybox(busybox)
  const taken = new Set(files.map(({ path }) => path))
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
        ...['bin', 'etc', 'home', 'root', 'var'].map(folder),
        { kind: 'folder', path: 'tmp', mode: 0o1777 },
        ...files,
        ...[
          ...applets.map((applet) => ({ kind: 'symlink', path: `bin/${applet}`, target }) as const),
          ...libraryFiles(libraries),
        ].filter(({ path }) => !taken.has(path)),
        textFile('etc/passwd', 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/home:/bin/false\n'),
        textFile('etc/group', 'root:x:0:\nnogroup:x:65534:\n'),
      ],
      command: ['/bin/sh'],
      environment: ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
    },
  ]
}

function plainBusybox(busybox: Uint8Array): BusyboxFiles {
  return { target: 'busybox', files: [{ kind: 'file', path: 'bin/busybox', content: busybox, mode: 0o755 }] }
}

/** Where the program looks for them, with the folders on the way. */
function libraryFiles(libraries: ReadonlyMap<string, Uint8Array>): readonly TarEntry[] {
  const folders = new Set([...libraries.keys()].flatMap((path) => parentFolders(path)))
  return [
    ...[...folders].map(folder),
    ...[...libraries].map(([path, content]) => ({ kind: 'file', path: path.slice(1), content, mode: 0o755 }) as const),
  ]
}

function parentFolders(path: string): readonly string[] {
  const names = path.split('/').slice(1, -1)
  return names.map((_, i) => names.slice(0, i + 1).join('/'))
}

function folder(path: string) {
  return { kind: 'folder', path, mode: 0o755 } as const
}

function textFile(path: string, text: string) {
  return { kind: 'file', path, content: Buffer.from(text), mode: 0o644 } as const
}
