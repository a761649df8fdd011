import type { Clock } from '../../base/async/clock.ts'
import { Wakeup } from '../../base/async/wakeup.ts'
import { watchDirectory } from '../../system/files/watch-directory.ts'
import type { KubeClient } from '../../protocols/kube-api/kube-client.ts'
import { sendAppliedObject, deleteApplied } from './send-applied-object.ts'
import type { AppliedObject, ObjectName } from './applied-object.ts'
import { formatObjectName, objectKey } from './applied-object.ts'
import { formatAppliedRecord, isRecordOf, readAppliedRecord } from './applied-record.ts'
import type { RecordedObject } from './applied-record.ts'
import { DriftWatch } from './drift-watch.ts'
import type { PlacedObject } from './drift-watch.ts'
import { findField } from './find-field.ts'
import { FolderFiles } from './folder-files.ts'
import type { BuildKustomization } from './folder-files.ts'
import { ObjectPaths, UnknownKindError } from './object-paths.ts'
import { Reporter } from './reporter.ts'
import { readScaledObjects, ScaledObjects, withoutReplicas } from './scaled-objects.ts'
import { writeFileDurably } from '../../system/files/state/durable-file.ts'
import { errorMessage } from '../../base/telemetry/error-text.ts'

export interface AppliedFolderDeps {
  readonly folder: string
  /** Remembers what came from which file, so that what leaves the folder is deleted, also after a restart. */
  readonly recordFile: string
  /** Lists what is wrong with the files at the moment, for other commands. */
  readonly problemsFile: string
  readonly buildKustomization: BuildKustomization
  readonly client: KubeClient
  readonly random: () => number
  readonly clock: Clock
  readonly say: (line: string) => void
}

const CHECK_MS = 20_000
const RETRY_MS = 2000
// One save of an editor is several events.
const COALESCE_MS = 50
// What others refer to, or are judged by, comes first.
const FIRST = [
  'Namespace',
  'CustomResourceDefinition',
  'NetworkPolicy',
  'ResourceQuota',
  'LimitRange',
  'PriorityClass',
  'RuntimeClass',
  'StorageClass',
  'IngressClass',
  'ServiceAccount',
  'Secret',
  'ConfigMap',
  'PersistentVolume',
  'PersistentVolumeClaim',
  // Containers get the addresses of those that are there when they start.
  'Service',
]
const LAST = ['Pod']

/** Applies what the files of a folder say, again whenever they change, until the signal aborts. */
export async function runAppliedFolder(deps: AppliedFolderDeps, signal: AbortSignal): Promise<never> {
  const folder = new AppliedFolder(deps)
  const wakeup = new Wakeup()
  await using drift = new DriftWatch({ ...deps, onDrift: () => wakeup.wake() }, signal)
  for (;;) {
    // Before the reading, so that no change falls in between.
    const watched = folder.folders.join()
    using watch = startWatch([deps.folder, ...folder.folders], wakeup)
    const isWhole = await folder.apply(signal)
    drift.follow(folder.applied)
    // Those that are new have to be watched too.
    if (folder.folders.join() !== watched) continue
    const ms = isWhole && watch.isWatching ? CHECK_MS : RETRY_MS
    await wakeup.wait({ clock: deps.clock, ms }, signal)
    await deps.clock.sleep(COALESCE_MS, signal)
  }
}

function startWatch(folders: readonly string[], wakeup: Wakeup): Disposable & { readonly isWatching: boolean } {
  const watches = new DisposableStack()
  let isWatching = true
  for (const folder of new Set(folders)) {
    try {
      watches.use(watchDirectory(folder, { onChange: () => wakeup.wake(), onFailure: () => wakeup.wake() }))
    } catch {
      isWatching = false
    }
  }
  return { isWatching, [Symbol.dispose]: () => watches.dispose() }
}

class AppliedFolder {
  readonly #deps: AppliedFolderDeps
  readonly #paths: ObjectPaths
  readonly #reporter: Reporter
  readonly #files: FolderFiles
  /** Applied once, and so worth no word while they stay as they are. */
  readonly #known = new Set<string>()
  /** Those with an autoscaler. */
  readonly #scaled = new Set<string>()
  #record: ReadonlyMap<string, RecordedObject> | undefined
  #problems: string | undefined
  #applied: ReadonlyMap<string, PlacedObject> = new Map()

  constructor(deps: AppliedFolderDeps) {
    this.#deps = deps
    this.#paths = new ObjectPaths(deps.client)
    this.#reporter = new Reporter(deps.say)
    this.#files = new FolderFiles(deps.folder, this.#reporter, deps.buildKustomization)
  }

  /** What is applied, and where. */
  get applied(): ReadonlyMap<string, PlacedObject> {
    return this.#applied
  }

  get folders(): readonly string[] {
    return this.#files.folders
  }

  /** True when everything is as the files say. What fails is reported and tried again: nothing else of the node depends on it. */
  async apply(signal: AbortSignal): Promise<boolean> {
    const { folder } = this.#deps
    let isWhole = false
    try {
      isWhole = await this.#applyAll(signal)
      this.#reporter.clear('')
    } catch (error) {
      if (signal.aborted) throw error
      const reason = errorMessage(error)
      this.#reporter.report('', `Cannot apply "${folder}": ${reason}`, { file: folder, reason })
    }
    await this.#keepProblems()
    return isWhole
  }

  async #keepProblems(): Promise<void> {
    const text = `${JSON.stringify(this.#reporter.problems())}\n`
    if (text === this.#problems) return
    // What a full disk does not take was said at least.
    await writeFileDurably(this.#deps.problemsFile, text).catch(() => {})
    this.#problems = text
  }

  async #applyAll(signal: AbortSignal): Promise<boolean> {
    const isRead = await this.#files.read(signal)
    if (isRead === undefined) return false
    const record = new Map(this.#record ?? (await readAppliedRecord(this.#deps.recordFile)))
    const wanted = new Map<string, PlacedObject & { readonly file: string }>()
    let isWhole = isRead
    const abouts = new Set(this.#files.objects().map(({ file, object }) => aboutOf(file, object)))
    this.#reporter.retain((about) => !about.startsWith(OBJECT) || abouts.has(about))
    // Also where a file does not say how many any more.
    const isScalable = this.#files.objects().some(({ object }) => 'spec' in object)
    const scaled = isScalable ? await readScaledObjects(this.#deps.client, signal) : new ScaledObjects([])
    for (const found of this.#files.objects().sort((a, b) => rank(a.object) - rank(b.object))) {
      const name = await this.#apply(found, { wanted, scaled }, signal)
      if (name === undefined) isWhole = false
      else if (name !== 'twice') record.set(objectKey(name), { ...name, file: found.file })
    }
    const objects = this.#files.objects().map(({ object }) => object)
    const isEmptied = record.size > 0 && this.#files.isEmpty
    this.#reportEmptied(isEmptied ? record.size : 0)
    for (const [key, recorded] of isEmptied ? [] : record) {
      // Not by their places in the API, which the API may not have reported just now.
      if (objects.some((object) => isRecordOf(recorded, object)) || this.#files.isBad(recorded.file)) continue
      if (await this.#delete(recorded, signal)) record.delete(key)
      else isWhole = false
    }
    await this.#keep(record)
    this.#applied = wanted
    return isWhole
  }

  /** An empty folder is more often a disk that is not mounted than a request to delete everything, with the data of claims. */
  #reportEmptied(count: number): void {
    const { folder } = this.#deps
    if (count === 0) return this.#reporter.clear(EMPTIED)
    const reason = `there is no file in it: the ${count} objects that came from it stay; they go when it has an empty file, as "none.yaml"`
    this.#reporter.report(EMPTIED, `Cannot apply "${folder}": ${reason}`, { file: folder, reason })
  }

  /** Undefined when it failed. Of two files with one object the first counts. */
  async #apply(
    { file, object, line, lineOf }: ReturnType<FolderFiles['objects']>[number],
    {
      wanted,
      scaled,
    }: {
      readonly wanted: Map<string, PlacedObject & { readonly file: string }>
      readonly scaled: ScaledObjects
    },
    signal: AbortSignal,
  ): Promise<ObjectName | 'twice' | undefined> {
    const { folder, say, client, clock } = this.#deps
    let text = formatObjectName({ ...object, ...object.metadata, namespace: object.metadata.namespace ?? '' })
    const about = aboutOf(file, object)
    const problem = (reason: string) => {
      const field = findField(reason)
      const place = field === undefined ? line : (lineOf?.(field) ?? line)
      return { file: `${folder}/${file}`, ...(place && { line: place }), object: text, reason }
    }
    try {
      const { namespace } = object.metadata
      const place = await this.#paths.find({ ...object, namespace, name: object.metadata.name }, signal)
      const { name } = place
      text = formatObjectName(name)
      const key = objectKey(name)
      const other = wanted.get(key)?.file
      if (other !== undefined) {
        const reason = `"${other}" has it too, and counts`
        this.#reporter.report(about, `"${file}" has ${text}, as "${other}" has: the latter counts`, problem(reason))
        return 'twice'
      }
      const autoscaler = scaled.autoscalerOf(name)
      this.#sayScaled(text, key, autoscaler)
      const isScaled = autoscaler !== undefined
      wanted.set(key, { file, object: isScaled ? withoutReplicas(object) : object, place })
      const outcome = await sendAppliedObject({ client, clock }, { object, place, isScaled }, signal)
      if (outcome !== 'unchanged' || !this.#known.has(key)) say(`${text} ${outcome}`)
      this.#known.add(key)
      this.#reporter.clear(about)
      return name
    } catch (error) {
      if (signal.aborted) throw error
      const reason = errorMessage(error)
      this.#reporter.report(about, `Cannot apply ${text} of "${folder}/${file}": ${reason}`, problem(reason))
      return undefined
    }
  }

  /** Once: else a file that says how many there should be would seem to be ignored. */
  #sayScaled(text: string, key: string, autoscaler: string | undefined): void {
    if (autoscaler === undefined) this.#scaled.delete(key)
    else if (!this.#scaled.has(key)) {
      this.#scaled.add(key)
      this.#deps.say(`${text}: the number of replicas is left to HorizontalPodAutoscaler ${autoscaler}`)
    }
  }

  async #delete(name: RecordedObject, signal: AbortSignal): Promise<boolean> {
    const { client, clock, say } = this.#deps
    try {
      await deleteApplied({ client, clock }, await this.#paths.find(name, signal), signal)
      say(`${formatObjectName(name)} deleted`)
      this.#known.delete(objectKey(name))
      this.#scaled.delete(objectKey(name))
      this.#reporter.clear(objectKey(name))
      return true
    } catch (error) {
      if (signal.aborted) throw error
      // The object went with the definition of its kind.
      if (error instanceof UnknownKindError) return true
      const [object, reason] = [formatObjectName(name), `cannot be deleted: ${errorMessage(error)}`]
      const problem = { file: `${this.#deps.folder}/${name.file}`, object, reason }
      this.#reporter.report(objectKey(name), `Cannot delete ${object}: ${errorMessage(error)}`, problem)
      return false
    }
  }

  async #keep(record: ReadonlyMap<string, RecordedObject>): Promise<void> {
    const text = formatAppliedRecord(record)
    const isSame = this.#record !== undefined && formatAppliedRecord(this.#record) === text
    if (!isSame) await writeFileDurably(this.#deps.recordFile, text)
    this.#record = record
  }
}

/** Begins what the reporter knows an object of a file by. */
const OBJECT = 'object '
/** What it knows a folder by in which there is nothing any more. */
const EMPTIED = 'emptied'

function aboutOf(file: string, { kind, metadata }: AppliedObject): string {
  return `${OBJECT}${file} ${kind} ${metadata.namespace ?? ''}/${metadata.name}`
}

function rank({ kind }: AppliedObject): number {
  const first = FIRST.indexOf(kind)
  return first >= 0 ? first : FIRST.length + 1 + LAST.indexOf(kind)
}
