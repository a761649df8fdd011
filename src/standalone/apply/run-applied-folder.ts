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
import type { ObjectPlace } from './object-paths.ts'
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

/** An object with where it comes from and where it goes. */
interface FoundObject extends ObjectPlace {
  readonly file: string
  readonly object: AppliedObject
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

  /** True when everything is as the files say. Whatever fails is told and tried again: nothing else of the node depends on it. */
  async look(signal: AbortSignal): Promise<boolean> {
    const { folder } = this.#deps
    try {
      const isWhole = await this.#look(signal)
      this.#tell(`look at ${folder}`, '')
      return isWhole
    } catch (error) {
      if (signal.aborted) throw error
      this.#tell(`look at ${folder}`, `Cannot apply "${folder}": ${(error as Error).message}`)
      return false
    }
  }

  async #look(signal: AbortSignal): Promise<boolean> {
    const isRead = await this.#read(signal)
    if (isRead === undefined) return false
    const { objects, isWhole } = await this.#findPlaces(signal)
    const applied: ObjectName[] = []
    for (const object of objects) if (await this.#apply(object, signal)) applied.push(object.name)
    const before = parseRecord(await readTextIfPresent(this.#deps.recordFile))
    const ours = unite(before, applied)
    await this.#remember(before, ours)
    // While a file says nothing that can be understood nothing is deleted: it may only have moved there.
    const isKnown = isRead && isWhole
    const names = objects.map(({ name }) => name)
    return isKnown && (await this.#deleteOthers(ours, names, signal)) && applied.length === objects.length
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

  /** Where the objects of all files go, those that others refer to first. */
  async #findPlaces(
    signal: AbortSignal,
  ): Promise<{ readonly objects: readonly FoundObject[]; readonly isWhole: boolean }> {
    const objects: FoundObject[] = []
    let isWhole = true
    for (const [file, { objects: wanted }] of this.#files) {
      for (const object of wanted) {
        const { apiVersion, kind, metadata } = object
        const about = `${kind} ${metadata.name} of "${join(this.#deps.folder, file)}"`
        try {
          const { namespace, name } = metadata
          objects.push({ file, object, ...(await this.#paths.find({ apiVersion, kind, namespace, name }, signal)) })
          this.#tell(about, '')
        } catch (error) {
          if (signal.aborted) throw error
          this.#tell(about, `Cannot apply ${about}: ${(error as Error).message}`)
          isWhole = false
        }
      }
    }
    return { objects: objects.sort((left, right) => rank(left.object) - rank(right.object)), isWhole }
  }

  async #apply({ file, object, ...place }: FoundObject, signal: AbortSignal): Promise<boolean> {
    const { say, client, clock, folder } = this.#deps
    const text = formatObjectName(place.name)
    try {
      const outcome = await applyObject({ client, clock }, { object, place }, signal)
      if (outcome !== 'unchanged' || !this.#known.has(text)) say(`${text} ${outcome}`)
      this.#known.add(text)
      this.#tell(text, '')
      return true
    } catch (error) {
      if (signal.aborted) throw error
      this.#tell(text, `Cannot apply ${text} of "${join(folder, file)}": ${(error as Error).message}`)
      return false
    }
  }

  /** True when there are no others any more. */
  async #deleteOthers(
    ours: readonly ObjectName[],
    wanted: readonly ObjectName[],
    signal: AbortSignal,
  ): Promise<boolean> {
    const wantedKeys = new Set(wanted.map(keyOf))
    const left: ObjectName[] = []
    for (const name of ours) if (wantedKeys.has(keyOf(name)) || !(await this.#delete(name, signal))) left.push(name)
    await this.#remember(ours, left)
    return left.every((name) => wantedKeys.has(keyOf(name)))
  }

  async #delete(name: ObjectName, signal: AbortSignal): Promise<boolean> {
    const { client, clock, say } = this.#deps
    const text = formatObjectName(name)
    try {
      await deleteObject({ client, clock }, await this.#paths.find(name, signal), signal)
      say(`${text} deleted`)
      this.#known.delete(text)
      this.#tell(text, '')
      return true
    } catch (error) {
      if (signal.aborted) throw error
      this.#tell(text, `Cannot delete ${text}: ${(error as Error).message}`)
      return false
    }
  }

  async #remember(before: readonly ObjectName[], names: readonly ObjectName[]): Promise<void> {
    const text = (list: readonly ObjectName[]) => `${JSON.stringify(list.toSorted(byKey))}\n`
    if (text(before) !== text(names)) await writeFileAtomically(this.#deps.recordFile, text(names))
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

function byKey(left: ObjectName, right: ObjectName): number {
  return keyOf(left) < keyOf(right) ? -1 : 1
}

function unite(before: readonly ObjectName[], names: readonly ObjectName[]): readonly ObjectName[] {
  return [...new Map([...before, ...names].map((name) => [keyOf(name), name])).values()]
}

function rank({ kind }: AppliedObject): number {
  const first = ORDER.indexOf(kind)
  return first >= 0 ? first : ORDER.length + 1 + LAST.indexOf(kind)
}
