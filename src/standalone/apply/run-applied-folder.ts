import { join } from 'node:path'
import type { Clock } from '../../async/clock.ts'
import { Wakeup } from '../../async/wakeup.ts'
import { inspectPath, listNames, readManifestFile } from '../../host/read-manifest-file.ts'
import { readTextIfPresent, writeFileAtomically } from '../../host/state-folder.ts'
import { watchDirectory } from '../../host/watch-directory.ts'
import type { KubeClient } from '../../kube-api/kube-client.ts'
import { applyObject, deleteObject } from './apply-object.ts'
import type { AppliedObject, ObjectName } from './applied-object.ts'
import { formatObjectName } from './applied-object.ts'
import { ObjectPaths } from './object-paths.ts'
import { parseObjects } from './parse-objects.ts'

export interface AppliedFolderDeps {
  readonly folder: string
  /** Remembers what came from the folder, so that what leaves it is deleted, also after a restart. */
  readonly recordFile: string
  readonly client: KubeClient
  readonly clock: Clock
  readonly say: (line: string) => void
}

const CHECK_MS = 20_000
const RETRY_MS = 2000
// One save of an editor is several events.
const COALESCE_MS = 50
const MAX_FILE_BYTES = 10 * 1024 * 1024
const FILES = /\.(?:ya?ml|json)$/
// What others refer to comes first.
const ORDER = [
  'Namespace',
  'PriorityClass',
  'RuntimeClass',
  'ServiceAccount',
  'Secret',
  'ConfigMap',
  'PersistentVolume',
]
const LAST = ['Service', 'Pod']

/** Applies what the files of a folder say, again whenever they change, until the signal aborts. */
export async function runAppliedFolder(deps: AppliedFolderDeps, signal: AbortSignal): Promise<never> {
  const folder = new AppliedFolder(deps)
  const bell = new Wakeup()
  for (;;) {
    using watch = startWatch(deps, bell)
    const isWhole = await folder.look(signal)
    const ms = isWhole && watch.isWatching ? CHECK_MS : RETRY_MS
    await bell.wait({ clock: deps.clock, ms }, signal)
    await deps.clock.sleep(COALESCE_MS, signal)
  }
}

function startWatch({ folder }: AppliedFolderDeps, bell: Wakeup): Disposable & { readonly isWatching: boolean } {
  try {
    const watch = watchDirectory(folder, { onChange: () => bell.wake(), onFailure: () => bell.wake() })
    return { isWatching: true, [Symbol.dispose]: () => watch[Symbol.dispose]() }
  } catch {
    return { isWatching: false, [Symbol.dispose]: () => {} }
  }
}

interface FoundFile {
  readonly stamp: string
  readonly objects: readonly AppliedObject[]
}

class AppliedFolder {
  readonly #deps: AppliedFolderDeps
  readonly #paths: ObjectPaths
  readonly #files = new Map<string, FoundFile>()
  /** What was said of a file or an object last, so that it is said once. */
  readonly #told = new Map<string, string>()
  /** Applied once, and so worth no word while they stay as they are. */
  readonly #known = new Set<string>()

  constructor(deps: AppliedFolderDeps) {
    this.#deps = deps
    this.#paths = new ObjectPaths(deps.client)
  }

  /** True when everything is as the files say. */
  async look(signal: AbortSignal): Promise<boolean> {
    const isRead = await this.#read(signal)
    if (isRead === undefined) return false
    const objects = [...this.#files.values()].flatMap((file) => file.objects).sort(byOrder)
    const names: ObjectName[] = []
    let isWhole = isRead
    for (const object of objects) {
      const name = await this.#apply(object, signal)
      if (name === undefined) isWhole = false
      else names.push(name)
    }
    // While something could not be read or applied nothing is deleted: it may only have moved.
    if (isWhole) await this.#deleteOthers(names, signal)
    return isWhole
  }

  /** Undefined when the folder cannot be listed, false when a file in it is bad. */
  async #read(signal: AbortSignal): Promise<boolean | undefined> {
    const { folder } = this.#deps
    let names: readonly string[]
    try {
      names = (await listNames(folder)).filter((name) => FILES.test(name) && !name.startsWith('.'))
      this.#tell(folder, '')
    } catch (error) {
      this.#tell(folder, `Cannot apply "${folder}": ${(error as Error).message}`)
      return undefined
    }
    for (const known of this.#files.keys()) if (!names.includes(known)) this.#files.delete(known)
    let isGood = true
    for (const name of names) {
      signal.throwIfAborted()
      if (!(await this.#readFile(name))) isGood = false
    }
    return isGood
  }

  /** A file that became bad keeps what it said before. */
  async #readFile(name: string): Promise<boolean> {
    const path = join(this.#deps.folder, name)
    const found = await inspectPath(path)
    if (found.kind !== 'file') return found.kind === 'directory' || found.kind === 'missing'
    const known = this.#files.get(name)
    if (known?.stamp === found.stamp) return this.#told.get(path) === undefined
    const content = await readManifestFile(path, MAX_FILE_BYTES)
    try {
      if (content.kind === 'unusable') throw new Error(content.reason)
      this.#files.set(name, { stamp: found.stamp, objects: parseObjects(content.bytes) })
      this.#tell(path, '')
      return true
    } catch (error) {
      this.#files.set(name, { stamp: found.stamp, objects: known?.objects ?? [] })
      this.#tell(path, `Cannot apply "${path}": ${(error as Error).message}`)
      return false
    }
  }

  async #apply(object: AppliedObject, signal: AbortSignal): Promise<ObjectName | undefined> {
    const { say, client, clock } = this.#deps
    const key = `${object.kind} ${object.metadata.namespace ?? ''}/${object.metadata.name}`
    try {
      const { name, outcome } = await applyObject({ client, clock, paths: this.#paths }, object, signal)
      if (outcome !== 'unchanged' || !this.#known.has(key)) say(`${formatObjectName(name)} ${outcome}`)
      this.#known.add(key)
      this.#tell(key, '')
      return name
    } catch (error) {
      if (signal.aborted) throw error
      this.#tell(key, `Cannot apply ${key}: ${(error as Error).message}`)
      return undefined
    }
  }

  async #deleteOthers(present: readonly ObjectName[], signal: AbortSignal): Promise<void> {
    const { recordFile, client, clock, say } = this.#deps
    const before = parseRecord(await readTextIfPresent(recordFile))
    const keep = new Set(present.map(keyOf))
    for (const name of before) {
      if (keep.has(keyOf(name))) continue
      await deleteObject({ client, clock, paths: this.#paths }, name, signal)
      say(`${formatObjectName(name)} deleted`)
    }
    const text = `${JSON.stringify(present)}\n`
    if (before.length !== present.length || before.some((name) => !keep.has(keyOf(name))))
      await writeFileAtomically(recordFile, text)
  }

  #tell(about: string, message: string): void {
    if (message === '') this.#told.delete(about)
    else if (this.#told.get(about) !== message) {
      this.#told.set(about, message)
      this.#deps.say(message)
    }
  }
}

function parseRecord(text: string | undefined): readonly ObjectName[] {
  try {
    return text === undefined ? [] : (JSON.parse(text) as readonly ObjectName[])
  } catch {
    return []
  }
}

function keyOf({ apiVersion, kind, namespace, name }: ObjectName): string {
  return `${apiVersion}/${kind}/${namespace}/${name}`
}

function byOrder(left: AppliedObject, right: AppliedObject): number {
  return rank(left) - rank(right)
}

function rank({ kind }: AppliedObject): number {
  const first = ORDER.indexOf(kind)
  return first >= 0 ? first : ORDER.length + 1 + LAST.indexOf(kind)
}
