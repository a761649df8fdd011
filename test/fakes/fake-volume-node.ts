import type { GuardedFiles } from '../../src/system/guarded/guarded-files.ts'
import type { MountEntry } from '../../src/system/mounts/mount-table.ts'
import type { Pod, PodUid } from '../../src/model/pod/pod.ts'
import type { UsedVolume } from '../../src/pods/volumes/compute-desired-volumes.ts'
import type { VolumesDeps } from '../../src/pods/volumes/volumes.ts'
import { createSelinuxMounts } from '../builders/create-selinux-mounts.ts'
import { UncertainMountError } from '../../src/pods/volumes/volume-kind.ts'
import type { VolumeKind } from '../../src/pods/volumes/volume-kind.ts'
import { escapeName } from '../../src/pods/volumes/mounts/volume-paths.ts'
import type { VolumePlace, VolumeSource, DesiredVolume } from '../../src/pods/volumes/desired-volume.ts'

/** How the next tries with a volume go: late ones succeed when they are released. */
export type Behaviour = 'good' | 'fails' | 'uncertain' | 'hangs'

export const EMPTY_DIR = 'kubernetes.io/empty-dir'
export const CONFIG_MAP = 'kubernetes.io/configmap'
export const LOCAL = 'kubernetes.io/local-volume'

const noSelinux = createSelinuxMounts({ fileContext: undefined }).selinux

const ROOT = '/root'
const GIBIBYTE = 2 ** 30
const DISK = {
  capacityBytes: GIBIBYTE,
  availableBytes: GIBIBYTE,
  usedBytes: 0,
  inodes: 1000,
  inodesFree: 1000,
  inodesUsed: 0,
}

/** The volumes of a node in memory. It outlives agents, as a disk and a kernel do. */
export class FakeVolumeNode {
  readonly root = ROOT
  /** Volumes that are mounted, by path. */
  readonly mounts = new Set<string>()
  /** Mount points of parts, and whatever else is mounted. */
  readonly others = new Set<string>()
  /** Directories of volumes that hold files that belong to no volume. */
  readonly data = new Set<string>()
  /** Pods with empty directories around volumes that are gone. */
  readonly emptyFolders = new Set<PodUid>()
  readonly behaviours = new Map<string, Behaviour>()
  /** How many bytes volumes take, by path. */
  readonly sizes = new Map<string, number>()
  /** What was done, in order: "mount <name>", "unmount <name>", "bind <target>". */
  readonly journal: string[] = []
  readonly #hanging = new Map<string, (() => void)[]>()
  readonly #busy = new Set<string>()

  /** All that volumes need of a node. Claims are those that a test resolves itself. */
  get deps() {
    return {
      rootDirectory: ROOT,
      kinds: [this.kind(EMPTY_DIR), this.kind(CONFIG_MAP, { refreshed: true }), this.kind(LOCAL)],
      findSource: async (_: Pod, { volume }: UsedVolume): Promise<VolumeSource> => ({ kind: 'inline', volume }),
      refusal: () => 'no such kind',
      selinuxEnabled: false,
      selinux: noSelinux,
      mounter: this.mounter,
      guarded: this.guarded,
      folders: this.folders,
      metrics: { storageOperation: () => {}, volumeFound: () => {}, foreignVolumeCleaned: () => {} },
    } satisfies Partial<VolumesDeps>
  }

  kind(plugin: string, options: Partial<Pick<VolumeKind, 'refreshed' | 'measure'>> = {}): VolumeKind {
    return {
      plugin,
      refreshed: false,
      measure: 'walk',
      ...options,
      setUp: (desired, signal) => this.#alone(desired, () => this.#setUp(desired, signal)),
      tearDown: (place, signal) => this.#alone(place, () => this.#tearDown(place, signal)),
    }
  }

  /** Lets what hangs at a volume succeed. */
  letGo(name: string): void {
    for (const go of this.#hanging.get(name)?.splice(0) ?? []) go()
  }

  readonly mounter: VolumesDeps['mounter'] = {
    table: async () => [...this.mounts, ...this.others].map((point) => ({ point }) as MountEntry),
    unmount: async (target) => {
      this.journal.push(`umount ${target.slice(ROOT.length)}`)
      this.mounts.delete(target)
      this.others.delete(target)
    },
  }

  /** Parts of volumes, and what volumes take. */
  readonly guarded = {
    makeSubPath: async ({ path }) => void this.journal.push(`make ${path}`),
    bindSubPath: async ({ path, target }) => {
      this.journal.push(`bind ${path} ${target.slice(ROOT.length)}`)
      this.others.add(target)
    },
    releaseSubPaths: async (directory) => {
      this.journal.push(`release parts ${directory.slice(ROOT.length)}`)
      for (const point of this.others) if (point.startsWith(`${directory}/`)) this.others.delete(point)
    },
    measureTree: async (path) => ({ bytes: this.sizes.get(path) ?? 0, inodes: 1 }),
    measureFileSystem: async () => DISK,
  } satisfies VolumesDeps['guarded'] & Partial<GuardedFiles>

  readonly folders: VolumesDeps['folders'] = {
    listVolumes: async () =>
      [...this.mounts, ...this.data].map((path) => {
        const [, , , uid = '', , pluginDirectory = '', specName = ''] = path.split('/')
        return { uid, use: 'files', pluginDirectory, specName, path }
      }),
    listPods: async () => [...this.emptyFolders],
    makeFolder: async () => {},
    holdsAnything: async (directory) => [...this.others].some((point) => point.startsWith(`${directory}/`)),
    removeEmptyFolders: async (uid: PodUid) => {
      this.emptyFolders.delete(uid)
      return [...this.data].filter((path) => path.includes(`/${uid}/`))
    },
  }

  path(uid: string, plugin: string, specName: string): string {
    return `${ROOT}/pods/${uid}/volumes/${escapeName(plugin)}/${specName}`
  }

  async #setUp(desired: DesiredVolume, signal: AbortSignal) {
    this.journal.push(`mount ${desired.uid}/${desired.specName}`)
    await this.#behave(desired, () => this.mounts.add(desired.path), signal)
    this.mounts.add(desired.path)
    const groups = desired.source.kind === 'persistent' ? [7] : []
    return { kind: 'files', hostPath: desired.path, readOnly: false, selinuxRelabel: true, groups } as const
  }

  async #tearDown(place: VolumePlace, signal: AbortSignal): Promise<void> {
    this.journal.push(`unmount ${place.uid}/${place.specName}`)
    await this.#behave(place, () => {}, signal)
    this.mounts.delete(place.path)
  }

  async #behave({ specName }: VolumePlace, halfDone: () => void, signal: AbortSignal): Promise<void> {
    const behaviour = this.behaviours.get(specName) ?? 'good'
    if (behaviour === 'fails') throw new Error(`no ${specName}`)
    if (behaviour === 'uncertain') {
      halfDone()
      throw new UncertainMountError(`perhaps ${specName}`)
    }
    if (behaviour !== 'hangs') return
    halfDone()
    await new Promise<void>((resolve, reject) => {
      const abort = () => reject(signal.reason)
      signal.addEventListener('abort', abort, { once: true })
      this.#hanging
        .getOrInsertComputed(specName, () => [])
        .push(() => {
          signal.removeEventListener('abort', abort)
          resolve()
        })
      if (signal.aborted) abort()
    })
  }

  /** Two calls at a time for one volume would be a mistake of the caller. */
  async #alone<T>({ path }: VolumePlace, work: () => Promise<T>): Promise<T> {
    if (this.#busy.has(path)) throw new Error(`Two at a time with "${path}"`)
    this.#busy.add(path)
    try {
      return await work()
    } finally {
      this.#busy.delete(path)
    }
  }
}
