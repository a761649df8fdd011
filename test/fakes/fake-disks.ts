import type { DeviceContent } from '../../src/system/mounts/block-devices.ts'
import type { PathDescription } from '../../src/system/files/describe-path.ts'
import type { PersistentVolume, PersistentVolumeClaim } from '../../src/model/generated/core-v1.ts'
import { mountsOnTheWay } from '../../src/system/mounts/mount-table.ts'
import type { MountEntry } from '../../src/system/mounts/mount-table.ts'
import type { LocalVolumeDeps } from '../../src/pods/volumes/local/local-volume-deps.ts'
import { FakeClock } from './fake-clock.ts'
import { silentLogger } from '../../src/base/telemetry/silent-logger.ts'

const common = { id: 1, parentId: 1, options: [], isShared: false, source: '', superOptions: [] }
const ROOT: MountEntry = { ...common, device: '8:1', root: '/', point: '/', fileSystem: 'ext4' }

/** A node with disks and directories in memory; all that is done stands in the journal. */
export class FakeDisks {
  readonly journal: string[] = []
  readonly events: string[] = []
  readonly clock = new FakeClock()
  /** What paths lead to; everything else is absent. */
  readonly paths = new Map<string, Omit<PathDescription, 'real'> & { readonly real?: string }>()
  /** What is on devices, by path. */
  readonly contents = new Map<string, DeviceContent>()
  readonly mounts: MountEntry[] = [ROOT]
  /** What fails, by the beginning of its line in the journal. */
  readonly failures = new Map<string, Error>()
  /** What the cluster has of the one volume and of its claim. */
  volume: PersistentVolume = {}
  claim: PersistentVolumeClaim = {}
  #nextId = 2

  readonly deps: LocalVolumeDeps = {
    rootDirectory: '/k',
    nodeName: 'node-1',
    objects: {
      claim: async () => this.claim,
      persistentVolume: async () => this.volume,
      patchClaimStatus: async (_, { status }) => {
        const { storage } = status.allocatedResourceStatuses ?? {}
        this.#do(`claim ${storage ?? ''} ${status.capacity?.['storage'] ?? ''}`)
        this.claim = { ...this.claim, status: { ...this.claim.status, ...status } as PersistentVolumeClaim['status'] }
        return this.claim
      },
    },
    clock: this.clock,
    log: silentLogger,
    events: { record: (_, { type, reason, message }) => void this.events.push(`${type} ${reason} ${message}`) },
    describePath: async (path) => {
      const found = this.paths.get(path)
      return found === undefined ? undefined : { real: path, ...found }
    },
    volumeFiles: {
      makeDirectory: async (path, mode) => (this.#do(`mkdir ${path} ${mode.toString(8)}`), true),
      removeDirectory: async (path) => this.#do(`rmdir ${path}`),
    },
    guarded: {
      setOwnership: async ({ root, group, readOnly, onlyOnRootMismatch }) => {
        this.#do(`own ${root} ${group}${readOnly ? ' readOnly' : ''}${onlyOnRootMismatch ? ' onlyOnRootMismatch' : ''}`)
        return { entries: 7, failed: 0 }
      },
    },
    mounter: {
      table: async () => this.mounts,
      mount: async ({ fileSystem, source, target, options }) => {
        this.#do(`mount ${fileSystem} ${source} ${target} ${options.join(',')}`)
        this.addMount({ device: source, point: target, fileSystem, superOptions: options })
      },
      bind: async ({ source, target, options }) => {
        this.#do(`bind ${source} ${target} ${options.join(',')}`)
        const around = mountsOnTheWay(this.mounts, source).at(-1) ?? ROOT
        const inside = source.slice(around.point === '/' ? 0 : around.point.length)
        this.addMount({ ...around, root: inside === '' ? around.root : inside, point: target })
      },
      unmount: async (target, { force }) => {
        if (!this.mounts.some(({ point }) => point === target)) return
        this.#do(`unmount ${target}${force ? ' force' : ''}`)
        this.mounts.splice(0, this.mounts.length, ...this.mounts.filter(({ point }) => point !== target))
      },
    },
    devices: {
      probe: async (device) => this.contents.get(device) ?? { kind: 'other', what: 'who knows what' },
      format: async (device, fileSystem) => {
        this.#do(`format ${device} ${fileSystem}`)
        this.contents.set(device, { kind: 'fileSystem', type: fileSystem })
      },
      check: async (device) => this.#do(`fsck ${device}`),
      grow: async (device, mountPoint) => this.#do(`grow ${device} ${mountPoint}`),
      hold: async (file) => this.#do(`hold ${file}`),
      release: async (file) => this.#do(`release ${file}`),
    },
    deviceFiles: {
      makeFile: async (path) => this.#do(`touch ${path}`),
      removeFile: async (path) => this.#do(`unlink ${path}`),
      makeLink: async (link, target) => this.#do(`link ${link} ${target}`),
      removeLink: async (link) => this.#do(`unlink ${link}`),
      removeIfEmpty: async (path) => this.#do(`rmdir ${path}`),
    },
  }

  /** One more mount, standing on the root. */
  addMount(parts: Partial<MountEntry>): void {
    this.mounts.push({ ...ROOT, ...parts, id: this.#nextId, parentId: ROOT.id })
    this.#nextId += 1
  }

  /** What was done since this was last read. */
  take(): readonly string[] {
    return this.journal.splice(0)
  }

  #do(line: string): void {
    this.journal.push(line.trimEnd())
    const failure = [...this.failures].find(([start]) => line.startsWith(start))?.[1]
    if (failure !== undefined) throw failure
  }
}
