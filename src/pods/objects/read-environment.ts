import { DeadlineError } from '../../base/async/abort-errors.ts'
import type { Clock } from '../../base/async/clock.ts'
import { withDeadline } from '../../base/async/deadline.ts'
import type { EnvironmentFile, EnvironmentSources, Lookup } from '../containers/environment/environment-sources.ts'
import type { Container, EphemeralContainer, Secret, Service } from '../../model/generated/core-v1.ts'
import { isStaticPod } from '../../model/pod/pod.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { ObjectError } from './object-api.ts'
import type { PodObjects } from './pod-objects.ts'

export interface EnvironmentDeps {
  readonly objects: Pick<PodObjects, 'configMap' | 'secret'>
  /** One variable of a file in a volume of the pod. */
  readonly readFile: (pod: Pod, file: EnvironmentFile, signal: AbortSignal) => Promise<Lookup<string>>
  readonly services: () => Lookup<readonly Service[]>
  /** Resolves when the services were read at least once. */
  readonly servicesRead: (signal: AbortSignal) => Promise<void>
  readonly clock: Clock
}

export interface EnvironmentRequest {
  readonly pod: Pod
  readonly container: Container | EphemeralContainer
}

/** An API that is back reports the pods and the services within a few seconds of each other. */
const SERVICES_PATIENCE_MS = 5000

type Data = ReadonlyMap<string, string>
/** The keys of an object that a container uses; all of them for envFrom. */
type Wanted = ReadonlySet<string> | 'all'

/** Asks for all that the environment of a container needs and nothing else, so that it can then be computed without waiting. */
export async function readEnvironment(
  deps: EnvironmentDeps,
  { pod, container }: EnvironmentRequest,
  signal: AbortSignal,
): Promise<EnvironmentSources> {
  const { namespace } = pod.metadata
  const wanted = listWanted(container)
  const [configMaps, secrets, files] = await Promise.all([
    readAll(wanted.configMaps, async (name) => {
      const { data = {} } = await deps.objects.configMap({ namespace, name }, signal)
      return { kind: 'found', value: new Map(Object.entries(data)) }
    }),
    readAll(wanted.secrets, async (name, keys) => toText(await deps.objects.secret({ namespace, name }, signal), keys)),
    Promise.all(wanted.files.map(async (file) => [idOf(file), await deps.readFile(pod, file, signal)] as const)),
    waitForServices(deps, pod, signal),
  ])
  signal.throwIfAborted()
  const fileValues = new Map(files)
  return {
    configMap: (name) => configMaps.get(name) ?? unread,
    secret: (name) => secrets.get(name) ?? unread,
    file: (file) => fileValues.get(idOf(file)) ?? unread,
    services: deps.services,
  }
}

/** Gives up quietly: a container that cannot do without them says so itself. Static pods can. */
async function waitForServices(deps: EnvironmentDeps, pod: Pod, signal: AbortSignal): Promise<void> {
  const { clock, services, servicesRead } = deps
  if (isStaticPod(pod) || services().kind !== 'unavailable') return
  try {
    await withDeadline({ clock, ms: SERVICES_PATIENCE_MS, what: 'reading the services' }, servicesRead, signal)
  } catch (error) {
    if (!(error instanceof DeadlineError)) throw error
  }
}

const unread = { kind: 'unavailable', why: 'it was not asked for' } as const

function idOf({ volumeName, path, key }: EnvironmentFile): string {
  return JSON.stringify([volumeName, path, key])
}

function listWanted({ env = [], envFrom = [] }: Container | EphemeralContainer) {
  // A variable with a value of its own does not read its source.
  const sources = env.flatMap(({ value = '', valueFrom }) =>
    value === '' && valueFrom !== undefined ? [valueFrom] : [],
  )
  return {
    configMaps: mergeWanted([
      ...envFrom.map(({ configMapRef }) => ({ name: configMapRef?.name, key: undefined })),
      ...sources.map(({ configMapKeyRef }) => ({ name: configMapKeyRef?.name, key: configMapKeyRef?.key })),
    ]),
    secrets: mergeWanted([
      ...envFrom.map(({ secretRef }) => ({ name: secretRef?.name, key: undefined })),
      ...sources.map(({ secretKeyRef }) => ({ name: secretKeyRef?.name, key: secretKeyRef?.key })),
    ]),
    files: sources.flatMap(({ fileKeyRef }) => (fileKeyRef === undefined ? [] : [fileKeyRef])),
  }
}

function mergeWanted(
  references: readonly { readonly name: string | undefined; readonly key: string | undefined }[],
): ReadonlyMap<string, Wanted> {
  const wanted = new Map<string, Wanted>()
  for (const { name, key } of references) {
    if (name === undefined) continue
    const before = wanted.get(name) ?? new Set()
    wanted.set(name, before === 'all' || key === undefined ? 'all' : before.union(new Set([key])))
  }
  return wanted
}

async function readAll(
  wanted: ReadonlyMap<string, Wanted>,
  read: (name: string, keys: Wanted) => Promise<Lookup<Data>>,
): Promise<ReadonlyMap<string, Lookup<Data>>> {
  const readOne = async ([name, keys]: readonly [string, Wanted]) => {
    try {
      return [name, await read(name, keys)] as const
    } catch (error) {
      if (!(error instanceof ObjectError)) throw error
      const lookup: Lookup<Data> =
        error.reason === 'NotFound' ? { kind: 'missing' } : { kind: 'unavailable', why: error.message }
      return [name, lookup] as const
    }
  }
  return new Map(await Promise.all([...wanted].map(readOne)))
}

/** The bytes of a Secret as text. Those that are none would reach the container as something else, so they are refused. */
function toText({ data = {} }: Secret, keys: Wanted): Lookup<Data> {
  const texts = new Map<string, string>()
  for (const [key, encoded] of Object.entries(data)) {
    if (keys !== 'all' && !keys.has(key)) continue
    try {
      texts.set(key, new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(encoded, 'base64')))
    } catch {
      return { kind: 'unavailable', why: `key ${key} is not UTF-8 text, which a variable has to be` }
    }
  }
  return { kind: 'found', value: texts }
}
