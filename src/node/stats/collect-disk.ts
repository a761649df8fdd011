import { basename, dirname } from 'node:path'
import { nextTurn } from '../../base/async/next-turn.ts'
import type { CriResponse } from '../../protocols/cri/cri-methods.ts'
import { listByPod } from '../../protocols/cri/list-by-pod.ts'
import type { TreeUsage } from '../../system/files/file-usage.ts'
import { MOST_MESSAGE_BYTES } from '../../system/directories/logs/termination-logs.ts'
import type { ObservedPod } from '../../model/pod/observed-pod.ts'
import type { PodUid } from '../../model/pod/pod.ts'
import type { StatsDeps } from './stats-deps.ts'
import type { RuntimeFileSystem, VolumeUsage } from './stats-snapshot.ts'

/** Undefined where the runtime does not report it. */
export interface RuntimeFileSystems {
  readonly imageFs: RuntimeFileSystem | undefined
  readonly containerFs: RuntimeFileSystem | undefined
}

/** What pods take on the disk. */
export interface DiskUsage {
  /** By the id of the container. */
  readonly rootfs: ReadonlyMap<string, TreeUsage & { readonly time: number }>
  readonly pods: ReadonlyMap<PodUid, PodDisk>
  /** The ids of the containers that were there. */
  readonly containers: ReadonlySet<string>
}

interface PodDisk {
  readonly own: TreeUsage
  /** The termination messages, which are in `own` too, by the name of the container. */
  readonly messages: ReadonlyMap<string, TreeUsage>
  /** By the name of the container. */
  readonly logs: ReadonlyMap<string, TreeUsage>
  readonly volumes: readonly VolumeUsage[]
}

type DiskDeps = Pick<
  StatsDeps,
  'calls' | 'files' | 'volumes' | 'terminationLogs' | 'rootDirectory' | 'podLogsDirectory' | 'log'
>
type FileSystemDeps = Pick<StatsDeps, 'calls' | 'files' | 'onSplitDisk' | 'log'>

const NANOS_PER_MS = 1_000_000n

/**
 * Asks the runtime, which counts layers by itself, and lists log folders. What cannot be read is left out. The runtime's file systems say
 * where Docker's own folder is, which has the logs.
 */
export async function collectDisk(
  deps: DiskDeps,
  pods: readonly ObservedPod[],
  fileSystems: Promise<RuntimeFileSystems>,
  signal: AbortSignal,
): Promise<DiskUsage> {
  const [rootfs, byPod] = await Promise.all([
    unlessFailed(deps, 'containers', readLayers(deps, pods, signal), signal),
    fileSystems.then(({ imageFs }) => readPods(deps, pods, imageFs?.mountPoint, signal)),
  ])
  const containers = new Set(pods.flatMap((pod) => pod.containers.map(({ id }) => id)))
  return { rootfs: rootfs ?? new Map(), pods: byPod, containers }
}

/** The file systems that the runtime uses, as far as it reports them. */
export async function collectFileSystems(deps: FileSystemDeps, signal: AbortSignal): Promise<RuntimeFileSystems> {
  const found = await unlessFailed(deps, 'images', readFileSystems(deps, signal), signal)
  return found ?? { imageFs: undefined, containerFs: undefined }
}

async function unlessFailed<T>(
  { log }: Pick<DiskDeps, 'log'>,
  what: string,
  work: Promise<T>,
  signal: AbortSignal,
): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    signal.throwIfAborted()
    log.warn('cannot measure the disk, going on without', { what, error })
    return undefined
  }
}

async function readFileSystems(
  { calls, files, onSplitDisk }: FileSystemDeps,
  signal: AbortSignal,
): Promise<RuntimeFileSystems> {
  const { imageFilesystems, containerFilesystems } = await calls.imageFsInfo({}, signal)
  const imageFs = await readFileSystem(files, imageFilesystems[0])
  const containerFs = await readFileSystem(files, containerFilesystems[0])
  if (onSplitDisk === undefined) return { imageFs, containerFs }
  if (containerFs !== undefined && containerFs.device !== imageFs?.device) onSplitDisk()
  return { imageFs, containerFs: undefined }
}

async function readFileSystem(
  files: DiskDeps['files'],
  reported: CriResponse<'imageFsInfo'>['imageFilesystems'][number] | undefined,
): Promise<RuntimeFileSystem | undefined> {
  const mountPoint = reported?.fsId?.mountpoint
  if (mountPoint === undefined || mountPoint === '') return undefined
  const whole = await files.fileSystem(mountPoint)
  const used = reported?.usedBytes === undefined ? {} : { usedBytes: Number(reported.usedBytes.value) }
  const inodes = reported?.inodesUsed === undefined ? {} : { inodesUsed: Number(reported.inodesUsed.value) }
  return { ...whole, ...used, ...inodes, mountPoint }
}

async function readLayers(
  { calls }: DiskDeps,
  pods: readonly ObservedPod[],
  signal: AbortSignal,
): Promise<DiskUsage['rootfs']> {
  const uids = pods.map(({ uid }) => uid)
  const stats = await listByPod(uids, async (filter) => (await calls.listContainerStats({ filter }, signal)).stats)
  return new Map(
    stats.flatMap(({ attributes, writableLayer }) => {
      if (attributes === undefined || writableLayer === undefined) return []
      const { usedBytes, inodesUsed, timestamp } = writableLayer
      const usage = { bytes: Number(usedBytes?.value ?? 0n), inodes: Number(inodesUsed?.value ?? 0n) }
      return [[attributes.id, { ...usage, time: Number(timestamp / NANOS_PER_MS) }]]
    }),
  )
}

function treesIn(folder: Awaited<ReturnType<DiskDeps['files']['folder']>>): readonly TreeUsage[] {
  return folder === undefined ? [] : [folder.own, ...folder.folders.values()]
}

async function readPods(
  deps: DiskDeps,
  pods: readonly ObservedPod[],
  runtimeRoot: string | undefined,
  signal: AbortSignal,
): Promise<ReadonlyMap<PodUid, PodDisk>> {
  const volumes = Map.groupBy(deps.volumes(), ({ volume }) => volume.uid)
  const found = new Map<PodUid, PodDisk>()
  for (const { uid, name, namespace, containers, sandboxes } of pods) {
    const logs = await deps.files.logFolder(`${deps.podLogsDirectory}/${namespace}_${name}_${uid}`, {
      root: runtimeRoot,
      containerIds: new Set(containers.map(({ id }) => id)),
    })
    const directory = `${deps.rootDirectory}/pods/${uid}`
    const hosts = await deps.files.file(`${directory}/etc-hosts`)
    const messages = await readMessages(deps, uid)
    const plugins = await deps.files.folder(`${directory}/plugins`)
    const shared = await readSandboxFiles(deps, sandboxes, runtimeRoot)
    const own = [logs?.own, hosts, ...messages.values(), ...treesIn(plugins), ...shared].filter(
      (tree) => tree !== undefined,
    )
    found.set(uid, {
      own: {
        bytes: own.reduce((sum, { bytes }) => sum + bytes, 0),
        inodes: own.reduce((sum, { inodes }) => sum + inodes, 0),
      },
      messages,
      logs: logs?.folders ?? new Map(),
      volumes: (volumes.get(uid) ?? []).map(({ volume, ...usage }) => {
        const { name: volumeName, pvcRef, isLocalEphemeral } = volume
        return { ...usage, name: volumeName, pvcRef, isLocalEphemeral }
      }),
    })
    await nextTurn()
    signal.throwIfAborted()
  }
  return found
}

/**
 * The files that the runtime keeps for a sandbox and mounts in its containers, /etc/resolv.conf and /etc/hostname: those can write to them, and no
 * layer counts it.
 */
async function readSandboxFiles(
  { files }: DiskDeps,
  sandboxes: ObservedPod['sandboxes'],
  runtimeRoot: string | undefined,
): Promise<readonly TreeUsage[]> {
  if (runtimeRoot === undefined) return []
  const folders = sandboxes.map(({ id }) => files.folder(sandboxFolder(runtimeRoot, id)))
  return (await Promise.all(folders)).flatMap((folder) => folder?.own ?? [])
}

/** containerd reports the folder of its layers, Docker its own. Where it is another runtime there is no such folder. */
function sandboxFolder(runtimeRoot: string, id: string): string {
  return basename(runtimeRoot).startsWith('io.containerd.')
    ? `${dirname(runtimeRoot)}/io.containerd.grpc.v1.cri/sandboxes/${id}`
    : `${runtimeRoot}/containers/${id}`
}

/** The termination logs, by the name of the container, with what was emptied of them meanwhile. */
async function readMessages(
  { files, terminationLogs, rootDirectory }: DiskDeps,
  uid: PodUid,
): Promise<ReadonlyMap<string, TreeUsage>> {
  const path = `${rootDirectory}/pods/${uid}/containers`
  const folders = (await files.cutFolder(path, MOST_MESSAGE_BYTES))?.folders ?? new Map<string, TreeUsage>()
  return new Map(
    [...folders].map(([name, { bytes, inodes }]) => {
      const emptied = terminationLogs?.takeEmptied(uid, `${path}/${name}`) ?? 0
      return [name, { bytes: bytes + emptied, inodes }]
    }),
  )
}
