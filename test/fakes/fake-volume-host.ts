import type { MountEntry } from '../../src/system/mounts/mount-table.ts'
import type { Mounter } from '../../src/system/mounts/mounter.ts'
import type { VolumeFiles } from '../../src/system/directories/volume-files.ts'
import type { EmptyDirectoriesDeps } from '../../src/pods/volumes/usage/empty-directories.ts'
import { silentLogger } from '../../src/base/telemetry/silent-logger.ts'

/** Directories, markers and mounts of a node in memory, with a journal of what was done. */
export class FakeVolumeHost {
  readonly journal: string[] = []
  readonly directories = new Set<string>()
  readonly markers = new Set<string>()
  readonly mounts: MountEntry[] = []
  /** What fails, by the beginning of its line in the journal. */
  readonly failures = new Map<string, Error>()
  readonly warnings: string[] = []

  readonly files: VolumeFiles = {
    makeDirectory: async (path, mode) => {
      this.#do(`make ${path} ${mode.toString(8)}`)
      const isNew = !this.directories.has(path)
      this.directories.add(path)
      return isNew
    },
    giveToGroup: async (path, group) => this.#do(`give ${path} to ${group}`),
    isDirectory: async (path) => this.directories.has(path),
    removeDirectory: async (path) => {
      this.#do(`rmdir ${path}`)
      this.directories.delete(path)
    },
    hasMarker: async ({ uid, plugin, name }) => this.markers.has(`${uid} ${plugin} ${name}`),
    setMarker: async ({ uid, plugin, name }) => {
      this.#do(`mark ${name}`)
      this.markers.add(`${uid} ${plugin} ${name}`)
    },
    removeMarker: async ({ uid, plugin, name }) => {
      this.#do(`unmark ${name}`)
      this.markers.delete(`${uid} ${plugin} ${name}`)
    },
  }

  readonly mounter: Pick<Mounter, 'table' | 'mount' | 'unmount'> = {
    table: async () => this.mounts,
    mount: async ({ fileSystem, source, target, options }) => {
      this.#do(`mount ${fileSystem} ${source} ${target} ${options.join(',')}`)
      this.addMount(target, fileSystem)
    },
    unmount: async (target) => {
      if (!this.mounts.some(({ point }) => point === target)) return
      this.#do(`unmount ${target}`)
      this.mounts.splice(0, this.mounts.length, ...this.mounts.filter(({ point }) => point !== target))
    },
  }

  /** What is needed to make empty directories here. */
  get deps(): EmptyDirectoriesDeps {
    return {
      mounter: this.mounter,
      volumeFiles: this.files,
      guarded: {
        setOwnership: async ({ root, group, readOnly, onlyOnRootMismatch }) => {
          this.#do(`own ${root} ${group} ${readOnly} ${onlyOnRootMismatch}`)
          return { entries: 1, failed: 0 }
        },
        removeTree: async (root) => {
          this.#do(`remove ${root}`)
          this.directories.delete(root)
        },
      },
      noswap: { supported: async () => true },
      nodeAllocatable: () => new Map(),
      log: { ...silentLogger, warn: (message) => void this.warnings.push(message) },
    }
  }

  addMount(point: string, fileSystem: string): void {
    const common = { id: 1, parentId: 1, device: '0:1', root: '/', options: [], isShared: false, superOptions: [] }
    this.mounts.push({ ...common, point, fileSystem, source: fileSystem })
  }

  /** What was done since this was last read. */
  take(): readonly string[] {
    return this.journal.splice(0)
  }

  #do(line: string): void {
    this.journal.push(line)
    const failure = [...this.failures].find(([start]) => line.startsWith(start))?.[1]
    if (failure !== undefined) throw failure
  }
}
