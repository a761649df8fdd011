import { dirname } from 'node:path'
import type { Remains } from '../../system/directories/remove-own-directory.ts'
import type { createPodFiles } from '../../system/directories/pod-files.ts'
import type { PodDeps } from '../../pods/sync/pod-worker.ts'

type PodFiles = PodDeps['files']

/** The files of pods in memory: path to text; directories are not kept apart, they are where files lie. */
export class InMemoryPodFiles implements PodFiles {
  readonly files = new Map<string, string>()
  readonly directories = new Set<string>()
  /** By UID: what is in the directory of a pod and not the agent's. */
  readonly foreign = new Map<string, readonly string[]>()

  /** Among the other files, as on a disk. */
  readonly probeNotes = this.#notes('probes.json')
  readonly terminationNotes = this.#notes('termination.json')

  readonly #root: string

  constructor(root = '/root') {
    this.#root = root
  }

  /** Its methods as functions of their own. */
  get calls(): ReturnType<typeof createPodFiles> {
    const bound = Object.entries(Object.getOwnPropertyDescriptors(InMemoryPodFiles.prototype)).flatMap(
      ([name, { value }]) =>
        typeof value === 'function' && name !== 'constructor' && name !== 'check'
          ? [[name, value.bind(this)] as const]
          : [],
    )
    const { probeNotes, terminationNotes } = this
    return { probeNotes, terminationNotes, ...Object.fromEntries(bound) } as ReturnType<typeof createPodFiles>
  }

  async makeDirectories(paths: readonly string[]): Promise<void> {
    this.check('makeDirectories')
    for (const path of paths) this.directories.add(path)
  }

  async listNames(directory: string): Promise<readonly string[]> {
    this.check('listNames')
    return [...this.files.keys()]
      .filter((path) => dirname(path) === directory)
      .map((path) => path.slice(directory.length + 1))
  }

  async readNodeHosts(): Promise<string> {
    return '127.0.0.1 localhost\n'
  }

  async readResolvConf(path: string): Promise<string> {
    this.check('readResolvConf')
    return this.files.get(path) ?? 'nameserver 192.0.2.53\n'
  }

  async writeHosts(path: string, text: string): Promise<void> {
    this.check('writeHosts')
    this.files.set(path, text)
  }

  async makeTerminationLog(path: string): Promise<void> {
    this.check('makeTerminationLog')
    if (this.files.has(path)) throw new Error(`EEXIST: ${path}`)
    this.files.set(path, '')
  }

  async readTerminationLog(path: string, maxBytes: number): Promise<string> {
    this.check('readTerminationLog')
    return (this.files.get(path) ?? '').slice(-maxBytes)
  }

  async readLogTail(path: string, maxBytes: number): Promise<Uint8Array> {
    this.check('readLogTail')
    return Buffer.from(this.files.get(path) ?? '').subarray(-maxBytes)
  }

  async linkLog(link: string, target: string): Promise<void> {
    this.check('linkLog')
    this.files.set(link, target)
  }

  async removeLogs(logPath: string, link: string): Promise<void> {
    this.check('removeLogs')
    this.files.delete(link)
    this.files.delete(logPath)
  }

  async removePod(uid: string): Promise<Remains> {
    this.check('removePod')
    this.#remove((path) => path.includes(`/pods/${uid}`))
    return { directory: `${this.#root}/pods/${uid}`, left: this.foreign.get(uid) ?? [] }
  }

  async listPods(): Promise<readonly string[]> {
    const paths = [...this.files.keys(), ...this.directories]
    return [...this.foreign.keys(), ...new Set(paths.flatMap((path) => /\/pods\/([^/]+)/.exec(path)?.[1] ?? []))]
  }

  async listLogDirectories() {
    return []
  }

  async removeLogDirectory(directory: string): Promise<Remains> {
    this.#remove((path) => path.startsWith(directory))
    return { directory, left: [] }
  }

  async removeDanglingLinks(): Promise<void> {}

  #remove(isOfIt: (path: string) => boolean): void {
    for (const path of this.files.keys()) if (isOfIt(path)) this.files.delete(path)
    for (const path of this.directories) if (isOfIt(path)) this.directories.delete(path)
  }

  #notes(name: string) {
    const pathOf = (uid: string) => `${this.#root}/pods/${uid}/${name}`
    return {
      read: async (uid: string) => this.files.get(pathOf(uid)),
      write: async (uid: string, text: string) => void this.files.set(pathOf(uid), text),
      remove: async (uid: string) => void this.files.delete(pathOf(uid)),
      setAside: async (uid: string) => {
        this.files.set(`${pathOf(uid)}.corrupt`, this.files.get(pathOf(uid)) ?? '')
        this.files.delete(pathOf(uid))
      },
    }
  }

  /** Throws where a call is to fail. */
  protected check(_method: keyof PodFiles): void {}
}
