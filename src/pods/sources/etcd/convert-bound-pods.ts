import { isRecord } from '../../../base/document/is-record.ts'

type Json = Readonly<Record<string, unknown>>

const PULL_POLICIES: Readonly<Record<string, string>> = {
  PullAlways: 'Always',
  PullNever: 'Never',
  PullIfNotPresent: 'IfNotPresent',
}
const VOLUME_KINDS: Readonly<Record<string, string>> = { hostDir: 'hostPath', persistentDisk: 'gcePersistentDisk' }
const RESTART_POLICIES: Readonly<Record<string, string>> = { always: 'Always', onFailure: 'OnFailure', never: 'Never' }

/** The pods of a BoundPods object (v1beta1), which the first kubelets read from etcd, as Pods of today. What makes no sense is passed on, to be reported. */
export function convertBoundPods(items: readonly unknown[]): readonly Json[] {
  return items.map((item, index) => convertPod(isRecord(item) ? item : {}, index))
}

function convertPod(pod: Json, index: number): Json {
  const { id, uid, namespace, creationTimestamp, labels, annotations, spec, kind: _, apiVersion: __, ...unknown } = pod
  const created = typeof creationTimestamp === 'string' ? Date.parse(creationTimestamp) : Number.NaN
  const metadata = {
    name: id || String(index + 1),
    namespace,
    // As then: a pod without a UID is known by when it was made.
    uid: uid || (Number.isNaN(created) ? undefined : String(Math.floor(created / 1000))),
    labels,
    annotations,
  }
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: convertRecord(spec ?? {}, convertSpec), ...unknown }
}

function convertSpec({ containers, volumes, restartPolicy, ...rest }: Json): Json {
  return {
    ...rest,
    containers: convertEach(containers ?? [], convertContainer),
    ...(isGiven(volumes) ? { volumes: convertEach(volumes, convertVolume) } : {}),
    restartPolicy: convertRestartPolicy(restartPolicy ?? {}),
  }
}

/** The policy was the name of a field; none of them stood for "always". */
function convertRestartPolicy(policy: unknown): unknown {
  if (!isRecord(policy)) return policy
  const name = Object.keys(policy).find((key) => isGiven(policy[key])) ?? 'always'
  return RESTART_POLICIES[name] ?? name
}

function convertContainer(container: Json): Json {
  const { command, memory, cpu, privileged, imagePullPolicy, env, livenessProbe, ...rest } = container
  const limits = {
    ...(isAmount(cpu) ? { cpu: `${cpu}m` } : {}),
    ...(isAmount(memory) ? { memory: String(memory) } : {}),
  }
  return {
    ...rest,
    ...keepSenseless({ cpu }, (value) => value === 0 || isAmount(value)),
    ...keepSenseless({ memory }, (value) => value === 0 || isAmount(value)),
    ...keepSenseless({ privileged }, (value) => typeof value === 'boolean'),
    // What was called command then is what the image's entry point gets.
    ...(command === undefined ? {} : { args: command }),
    ...(isGiven(env) ? { env: convertEach(env, convertVariable) } : {}),
    ...(Object.keys(limits).length === 0 ? {} : { resources: { limits } }),
    ...(privileged === true ? { securityContext: { privileged } } : {}),
    ...(isGiven(imagePullPolicy) && imagePullPolicy !== ''
      ? { imagePullPolicy: PULL_POLICIES[String(imagePullPolicy)] ?? imagePullPolicy }
      : {}),
    ...(isGiven(livenessProbe) ? { livenessProbe: convertRecord(livenessProbe, convertProbe) } : {}),
  }
}

function convertVariable({ key, name, ...rest }: Json): Json {
  return { name: name ?? key, ...rest }
}

/** The kind stood beside the action, which says it by itself. */
function convertProbe(probe: Json): Json {
  return Object.fromEntries(Object.entries(probe).filter(([name]) => name !== 'type'))
}

/** The source stood in a field of its own, under some names that are others now. */
function convertVolume({ source, ...volume }: Json): Json {
  if (!isRecord(source)) return { ...volume, ...(isGiven(source) ? { source } : {}) }
  const given = Object.entries(source).filter(([, value]) => isGiven(value))
  return { ...volume, ...Object.fromEntries(given.map(([kind, value]) => [VOLUME_KINDS[kind] ?? kind, value])) }
}

/** A value that cannot be converted stays under its old name, under which it is reported. */
function keepSenseless(field: Json, makesSense: (value: unknown) => boolean): Json {
  return Object.fromEntries(Object.entries(field).filter(([, value]) => isGiven(value) && !makesSense(value)))
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && value > 0
}

/** Encoders of then wrote null for what was not there. */
function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}

function convertEach(value: unknown, convert: (item: Json) => Json): unknown {
  return Array.isArray(value) ? value.map((item: unknown) => convertRecord(item, convert)) : value
}

function convertRecord(value: unknown, convert: (item: Json) => Json): unknown {
  return isRecord(value) ? convert(value) : value
}
