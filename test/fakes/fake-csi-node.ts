import { CsiCallError } from '../../src/protocols/csi/csi-call-error.ts'
import type { CsiAttachment, CsiDriverTraits } from '../../src/protocols/csi/csi-driver-objects.ts'
import type { CsiCapability, CsiDriver, CsiVolumeStats } from '../../src/protocols/csi/csi-drivers.ts'
import type { CsiFiles } from '../../src/system/directories/csi-files.ts'
import type { DeviceFiles } from '../../src/system/directories/device-files.ts'
import type { MountEntry } from '../../src/system/mounts/mount-table.ts'
import type { FoundVolume } from '../../src/system/directories/volume-folders.ts'

/** How the next calls of a driver go. Lost: done, but the answer never comes back. */
export type CallBehaviour = 'good' | 'final' | 'uncertain' | 'lost' | 'hangs'
export type CallName =
  | 'NodeStageVolume'
  | 'NodeUnstageVolume'
  | 'NodePublishVolume'
  | 'NodeUnpublishVolume'
  | 'NodeExpandVolume'

export const DRIVER = 'disk.example.com'
export const ROOT = '/root'

const TRAITS: CsiDriverTraits = {
  attachRequired: false,
  podInfoOnMount: false,
  fsGroupPolicy: 'ReadWriteOnceWithFSType',
  lifecycleModes: ['Persistent'],
  requiresRepublish: false,
  tokenRequests: [],
  tokensInSecrets: false,
  seLinuxMount: false,
  allocatableUpdateSeconds: undefined,
}

/**
 * The disk and kernel of a node with one CSI driver, in memory. They outlive agents. What a driver may count on is checked at each call, and
 * kept in broken.
 */
export class FakeCsiNode {
  /** What was called, as in "NodePublishVolume vol-1 u-1". */
  readonly journal: string[] = []
  readonly requests: object[] = []
  readonly broken: string[] = []
  readonly notes = new Map<string, string>()
  /** What was set aside, by directory. */
  readonly notesAside = new Map<string, string>()
  readonly directories = new Set<string>()
  /** Of devices: links of pods, files that devices are bound on, and those that are held. */
  readonly links = new Map<string, string>()
  readonly bound = new Set<string>()
  readonly held = new Set<string>()
  /** By path: the handle of the volume. */
  readonly staged = new Map<string, string>()
  readonly published = new Map<string, string>()
  readonly behaviours = new Map<CallName, CallBehaviour>()
  capabilities = new Set<CsiCapability>(['STAGE_UNSTAGE_VOLUME'])
  isRegistered = true
  traits: CsiDriverTraits = TRAITS
  stats: CsiVolumeStats = { bytes: undefined, inodes: undefined, condition: undefined }
  /** What the cluster has of this node. */
  inUse: readonly string[] = []
  attached: readonly string[] = []
  attachment: CsiAttachment | undefined
  readonly #hanging = new Set<() => void>()
  readonly #waiting = new Set<() => void>()

  readonly driver: CsiDriver = {
    name: DRIVER,
    nodeId: 'n',
    capabilities: async () => this.capabilities,
    stage: async (request, signal) => {
      this.requests.push(request)
      await this.#call('NodeStageVolume', request, () => this.staged.set(request.stagingPath, request.volumeId), signal)
    },
    unstage: async (request, signal) => {
      const users = this.published.entries().filter(([, handle]) => handle === request.volumeId)
      for (const [path] of users) this.broken.push(`unstaged while published at ${path}`)
      await this.#call('NodeUnstageVolume', request, () => this.staged.delete(request.stagingPath), signal)
    },
    publish: async (request, signal) => {
      this.requests.push(request)
      const { stagingPath, targetPath, volumeId } = request
      if (stagingPath !== undefined && !this.staged.has(stagingPath) && this.capabilities.has('STAGE_UNSTAGE_VOLUME'))
        this.broken.push(`published before it was staged: ${targetPath}`)
      if (![...this.notes.values()].some((text) => text.includes(volumeId)))
        this.broken.push('published without a note')
      await this.#call('NodePublishVolume', request, () => this.published.set(targetPath, volumeId), signal)
    },
    unpublish: async (request, signal) => {
      await this.#call('NodeUnpublishVolume', request, () => this.published.delete(request.targetPath), signal)
    },
    expand: async (request, signal) => {
      this.requests.push(request)
      await this.#call('NodeExpandVolume', request, () => {}, signal)
      return request.requiredBytes
    },
    volumeStats: async () => this.stats,
  }

  readonly drivers = { find: (name: string) => (this.isRegistered && name === DRIVER ? this.driver : undefined) }

  readonly driverObjects = {
    find: async () => this.traits,
    findAttachment: async () => this.attachment,
  }

  readonly attachments = {
    isInUse: (name: string) => this.inUse.includes(name),
    isAttached: (name: string) => this.attached.includes(name),
    changed: (_: number, signal: AbortSignal) => this.#pause(this.#waiting, signal),
  }

  readonly csiFiles: CsiFiles = {
    makeDirectory: async (path) => void this.directories.add(path),
    removeDirectory: async (path) => {
      if (this.#holds(path)) throw new Error(`ENOTEMPTY: ${path}`)
      this.directories.delete(path)
    },
    removeIfEmpty: async (path) => {
      if (!this.#holds(path)) this.directories.delete(path)
    },
    readData: async (directory) => this.notes.get(directory),
    writeData: async (directory, text) => void this.notes.set(directory, text),
    setAsideData: async (directory) => {
      this.notesAside.set(directory, this.notes.get(directory) ?? '')
      this.notes.delete(directory)
    },
    removeData: async (directory) => void this.notes.delete(directory),
    listStagedFiles: async () => this.#listNotes(`${ROOT}/plugins/kubernetes.io/csi/${DRIVER}/`),
    listStagedDevices: async () => this.#listNotes(`${ROOT}/plugins/kubernetes.io/csi/volumeDevices/`),
  }

  readonly deviceFiles: DeviceFiles = {
    makeFile: async () => {},
    removeFile: async () => {},
    makeLink: async (link, target) => void this.links.set(link, target),
    removeLink: async (link) => void this.links.delete(link),
    removeIfEmpty: async () => {},
  }

  readonly devices = {
    hold: async (file: string) => void this.held.add(file),
    release: async (file: string) => void this.held.delete(file),
  }

  readonly mounter = {
    table: async () => [
      ...[...this.staged, ...this.published].map(([point, handle]) => toMount(point, handle)),
      ...[...this.bound].map((point) => toMount(point, 'device')),
    ],
    bind: async ({ target }: { readonly target: string }) => void this.bound.add(target),
    unmount: async (target: string) => {
      this.bound.delete(target)
      this.published.delete(target)
    },
  }

  readonly folders = {
    listVolumes: async (): Promise<readonly FoundVolume[]> => [
      ...[...this.directories]
        .filter((path) => /\/pods\/[^/]+\/volumes\/[^/]+\/[^/]+$/.test(path))
        .map((path) => toFound(path, 'files')),
      ...[...this.links.keys()].map((path) => toFound(path, 'device')),
    ],
    listPods: async () => [],
    makeFolder: async () => {},
    holdsAnything: async () => false,
    removeEmptyFolders: async () => [],
  }

  /** What the node says of its volumes reaches the cluster, which attaches what is in use and detaches the rest. */
  report(inUse: readonly string[] | undefined): void {
    if (inUse === undefined) return
    for (const name of this.inUse.filter((one) => !inUse.includes(one))) {
      const handle = name.slice(name.indexOf('^') + 1)
      if (this.traits.attachRequired && [...this.staged.values(), ...this.published.values()].includes(handle))
        this.broken.push(`detached while it is in use: ${handle}`)
    }
    this.inUse = inUse
    this.attached = inUse
    this.attachment = { name: 'csi-1', isAttached: true, metadata: { lun: '1' }, error: undefined, isExhausted: false }
    this.announce()
  }

  /** Something about the node has changed in the cluster. */
  announce(): void {
    for (const go of this.#waiting) go()
  }

  /** Lets calls that hang succeed. */
  letGo(): void {
    for (const go of this.#hanging) go()
  }

  /** The calls since this was last read. */
  take(): readonly string[] {
    return this.journal.splice(0)
  }

  /** All that is left of volumes. */
  get leftovers(): readonly string[] {
    return [...this.staged.keys(), ...this.published.keys(), ...this.notes.keys(), ...this.links.keys(), ...this.held]
  }

  #holds(path: string): boolean {
    const all = [
      ...this.directories,
      ...this.staged.keys(),
      ...this.published.keys(),
      ...this.notes.keys().map((one) => `${one}/vol_data.json`),
    ]
    return all.some((other) => other.startsWith(`${path}/`)) || this.staged.has(path) || this.published.has(path)
  }

  #listNotes(start: string) {
    return [...this.notes].filter(([path]) => path.startsWith(start)).map(([directory, text]) => ({ directory, text }))
  }

  async #call(
    method: CallName,
    request: { readonly volumeId: string; readonly targetPath?: string },
    effect: () => unknown,
    signal: AbortSignal,
  ): Promise<void> {
    this.journal.push([method, request.volumeId, ...podOf(request.targetPath)].join(' '))
    signal.throwIfAborted()
    const fail = (code: 'Internal' | 'DeadlineExceeded') =>
      new CsiCallError({ driver: DRIVER, method }, { code, detail: 'no' })
    switch (this.behaviours.get(method) ?? 'good') {
      case 'good':
        return void effect()
      case 'final':
        throw fail('Internal')
      case 'uncertain':
        throw fail('DeadlineExceeded')
      case 'lost':
        effect()
        throw fail('DeadlineExceeded')
      case 'hangs':
        await this.#pause(this.#hanging, signal)
        effect()
    }
  }

  async #pause(where: Set<() => void>, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const abort = () => reject(signal.reason as Error)
    signal.addEventListener('abort', abort, { once: true })
    where.add(resolve)
    try {
      await promise
    } finally {
      where.delete(resolve)
      signal.removeEventListener('abort', abort)
    }
  }
}

function podOf(path = ''): readonly string[] {
  const uid = /\/pods\/([^/]+)\//.exec(path)?.[1] ?? /\/publish\/[^/]+\/([^/]+)$/.exec(path)?.[1]
  return uid === undefined ? [] : [uid]
}

function toMount(point: string, device: string): MountEntry {
  const common = { id: 1, parentId: 1, root: '/', options: [], isShared: false, superOptions: [], fileSystem: 'x' }
  return { ...common, point, device, source: device }
}

function toFound(path: string, use: 'files' | 'device'): FoundVolume {
  const [, , , uid = '', , pluginDirectory = '', specName = ''] = path.split('/')
  return { uid, use, pluginDirectory, specName, path }
}
