import { isRecord } from '../../../base/document/is-record.ts'

type Json = Readonly<Record<string, unknown>>

const PULL_POLICIES: Readonly<Record<string, string>> = {
  PullAlways: 'Always',
  PullNever: 'Never',
  PullIfNotPresent: 'IfNotPresent',
}
const RESTART_POLICIES: Readonly<Record<string, string>> = { always: 'Always', onFailure: 'OnFailure', never: 'Never' }

/** The pods of a BoundPods object (v1beta1), which the first kubelets read from etcd, as Pods of today. What is not known is passed on, to be reported. */
export function convertBoundPods(value: Json): readonly Json[] {
  return list(value['items']).map((item, index) => convertPod(item, index))
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
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: convertSpec(isRecord(spec) ? spec : {}), ...unknown }
}

function convertSpec({ containers, volumes, restartPolicy, ...rest }: Json): Json {
  const policy = isRecord(restartPolicy) ? Object.keys(restartPolicy)[0] : undefined
  return {
    ...rest,
    containers: list(containers).map(convertContainer),
    ...(volumes === undefined ? {} : { volumes: list(volumes).map(convertVolume) }),
    restartPolicy: typeof restartPolicy === 'string' ? restartPolicy : (RESTART_POLICIES[policy ?? 'always'] ?? policy),
  }
}

function convertContainer(container: Json): Json {
  const { command, memory, cpu, privileged, imagePullPolicy, env, livenessProbe, ...rest } = container
  const limits = {
    ...(isAmount(cpu) ? { cpu: `${cpu}m` } : {}),
    ...(isAmount(memory) ? { memory: String(memory) } : {}),
  }
  return {
    ...rest,
    // What was called command then is what the image's entry point gets.
    ...(command === undefined ? {} : { args: command }),
    ...(env === undefined ? {} : { env: list(env).map(({ key, name, value }) => ({ name: name ?? key, value })) }),
    ...(Object.keys(limits).length === 0 ? {} : { resources: { limits } }),
    ...(privileged === true ? { securityContext: { privileged } } : {}),
    ...(typeof imagePullPolicy === 'string' && imagePullPolicy !== ''
      ? { imagePullPolicy: PULL_POLICIES[imagePullPolicy] ?? imagePullPolicy }
      : {}),
    ...(isRecord(livenessProbe) ? { livenessProbe: convertProbe(livenessProbe) } : {}),
  }
}

/** The kind stood beside the action, which says it by itself. */
function convertProbe(probe: Json): Json {
  return Object.fromEntries(Object.entries(probe).filter(([name]) => name !== 'type'))
}

function convertVolume({ source, ...volume }: Json): Json {
  if (!isRecord(source)) return volume
  const { hostDir, emptyDir, persistentDisk, gitRepo } = source
  return {
    ...volume,
    ...(isRecord(hostDir) ? { hostPath: hostDir } : {}),
    ...(isRecord(emptyDir) ? { emptyDir } : {}),
    ...(isRecord(persistentDisk) ? { gcePersistentDisk: persistentDisk } : {}),
    ...(isRecord(gitRepo) ? { gitRepo } : {}),
  }
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && value > 0
}

function list(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter(isRecord) : []
}
