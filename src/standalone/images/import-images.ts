import type { Clock } from '../../base/async/clock.ts'
import { findLibraries } from './find-libraries.ts'
import { runProcess, runProcessOrThrow } from '../../system/processes/run-process.ts'
import { readBytes, removeTree } from '../../system/files/files-and-folders.ts'
import type { PrivateContainerd } from '../node/runtime/containerd.ts'
import type { ContainerdPaths } from '../node/runtime/containerd-config.ts'
import { createNodeImages } from './node-images.ts'
import { createOciArchive, packImage } from './oci-archive.ts'
import type { ImageSource } from './oci-archive.ts'
import { writeFileDurably } from '../../system/files/state/durable-file.ts'

/** The containerd namespace in which the CRI plugin lives. */
const CRI_NAMESPACE = 'k8s.io'
const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }
const DEADLINE_MS = 60_000
const BUSYBOX = '/bin/busybox'

/** As image archives name it. */
export const machineArchitecture = architectures[process.arch] ?? process.arch

/** The command line of containerd's own client for a private containerd. */
export function ctrCommand(
  { paths, enter }: { readonly paths: Pick<ContainerdPaths, 'socket'>; readonly enter: readonly string[] },
  ...args: readonly string[]
): readonly string[] {
  return [...enter, 'ctr', '--address', paths.socket, '--namespace', CRI_NAMESPACE, ...args]
}

/** Makes the node's own images from programs of this machine and imports those that containerd does not have as they are now. */
export async function importNodeImages(
  clock: Clock,
  containerd: PrivateContainerd,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const run = async (argv: readonly string[]) => {
    return (await runProcessOrThrow(clock, { argv, deadlineMs: DEADLINE_MS }, signal)).stdout
  }
  const [images, present] = await Promise.all([
    readNodeImages(clock, signal),
    run(ctrCommand(containerd, 'images', 'ls')),
  ])
  // Lines of name, type, digest and more. One that an older release made is made again.
  const known = new Set(present.split('\n').map((line) => line.split(/\s+/).toSpliced(1, 1).slice(0, 2).join(' ')))
  const isKnown = (image: ImageSource) =>
    known.has(`${image.name} ${packImage(image, machineArchitecture).manifest.digest}`)
  const missing = images.filter((image) => !isKnown(image))
  if (missing.length > 0) {
    const file = `${containerd.paths.folder}/images.tar`
    await writeFileDurably(file, createOciArchive(missing, machineArchitecture))
    await run(ctrCommand(containerd, 'images', 'import', file))
    await removeTree(file)
  }
  return missing.map(({ name }) => name)
}

/** The node's own images, made from programs of this machine; the one of sandboxes comes first. */
export async function readNodeImages(clock: Clock, signal: AbortSignal): Promise<readonly ImageSource[]> {
  const run = (...args: readonly string[]) =>
    runProcess(clock, { argv: [BUSYBOX, ...args], deadlineMs: DEADLINE_MS }, signal)
  const [catatonit, busybox, applets, wget, libraries] = await Promise.all([
    readBytes('/usr/bin/catatonit'),
    readBytes(BUSYBOX),
    run('--list'),
    run('wget', '--help'),
    findLibraries(clock, BUSYBOX, signal),
  ])
  return createNodeImages({
    catatonit,
    busybox,
    libraries: new Map(await Promise.all(libraries.map(async (path) => [path, await readBytes(path)] as const))),
    applets: applets.stdout.trim().split('\n'),
    hasWgetTimeout: /\s-T /.test(`${wget.stdout}${wget.stderr}`),
  })
}
