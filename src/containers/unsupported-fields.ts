import type { Container, EphemeralContainer } from '../model/generated/core-v1.ts'
import type { Pod } from '../model/pod.ts'

/** Things that a pod can ask for and that not every agent, node or runtime can do. */
export type PodCapability =
  | 'admission'
  | 'imageVolumes'
  | 'podResources'
  | 'resourceClaims'
  | 'runtimeClasses'
  | 'stopSignals'
  | 'sysctls'
  | 'userNamespaces'
  | 'volumes'

/** A field of a pod that would not be honoured. */
export interface UnsupportedField {
  /** As in an event: spec.containers[0].volumeMounts. */
  readonly path: string
  readonly reason: string
  /** Refuse: the pod must not run like this. Warn: it runs, and its users have to know. */
  readonly effect: 'refuse' | 'warn'
}

interface Row {
  readonly capability: PodCapability
  readonly effect: UnsupportedField['effect']
  readonly reason: string
  /** The paths at which the pod asks for it. */
  readonly find: (pod: Pod) => readonly string[]
}

// Harmless to every other pod, on every kernel; the rest waits for the configured allow-list.
const SAFE_SYSCTLS = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
]

const ROWS: readonly Row[] = [
  {
    capability: 'sysctls',
    effect: 'refuse',
    reason: 'only sysctls that are safe on every kernel are supported yet',
    find: ({ spec }) =>
      (spec.securityContext?.sysctls ?? []).flatMap(({ name }, index) =>
        SAFE_SYSCTLS.includes(name.replaceAll('/', '.')) ? [] : [`spec.securityContext.sysctls[${index}]`],
      ),
  },
  {
    capability: 'admission',
    effect: 'refuse',
    reason: 'this node runs Linux',
    find: (pod) => pathIf(pod, 'spec.os.name', ({ spec }) => spec.os !== undefined && spec.os.name !== 'linux'),
  },
  {
    capability: 'admission',
    effect: 'warn',
    reason: 'the node does not check it yet: the pod runs whatever the labels of the node are',
    find: (pod) => [
      ...pathIf(pod, 'spec.nodeSelector', ({ spec }) => Object.keys(spec.nodeSelector ?? {}).length > 0),
      ...pathIf(pod, 'spec.affinity.nodeAffinity', ({ spec }) => spec.affinity?.nodeAffinity !== undefined),
    ],
  },
  {
    capability: 'podResources',
    effect: 'warn',
    reason: 'limits of whole pods are not enforced yet, only those of containers',
    find: (pod) => pathIf(pod, 'spec.resources', ({ spec }) => spec.resources?.limits !== undefined),
  },
  {
    capability: 'volumes',
    effect: 'refuse',
    reason: 'volumes are not supported yet, and the pod cannot run without its data',
    find: ({ spec }) =>
      (spec.volumes ?? []).flatMap(({ image }, index) => (image === undefined ? [`spec.volumes[${index}]`] : [])),
  },
  {
    capability: 'volumes',
    effect: 'refuse',
    reason: 'volumes are not supported yet, and the container cannot run without its data',
    find: (pod) => [
      ...containerPaths(pod, 'volumeMounts', ({ volumeMounts = [] }) => volumeMounts.length > 0),
      ...containerPaths(pod, 'volumeDevices', ({ volumeDevices = [] }) => volumeDevices.length > 0),
    ],
  },
  {
    capability: 'imageVolumes',
    effect: 'refuse',
    reason: 'volumes made from images are not supported yet',
    find: ({ spec }) =>
      (spec.volumes ?? []).flatMap(({ image }, index) => (image === undefined ? [] : [`spec.volumes[${index}].image`])),
  },
  {
    capability: 'resourceClaims',
    effect: 'refuse',
    reason: 'dynamic resource allocation is not supported yet',
    find: (pod) => [
      ...pathIf(pod, 'spec.resourceClaims', ({ spec }) => (spec.resourceClaims ?? []).length > 0),
      ...containerPaths(pod, 'resources.claims', ({ resources }) => (resources?.claims ?? []).length > 0),
    ],
  },
  {
    capability: 'userNamespaces',
    effect: 'refuse',
    reason: 'user namespaces are not supported by this agent with this runtime',
    find: (pod) => pathIf(pod, 'spec.hostUsers', ({ spec }) => spec.hostUsers === false),
  },
  {
    capability: 'runtimeClasses',
    effect: 'refuse',
    reason: 'runtime classes are not known here',
    find: (pod) => pathIf(pod, 'spec.runtimeClassName', ({ spec }) => (spec.runtimeClassName ?? '') !== ''),
  },
  {
    capability: 'stopSignals',
    effect: 'warn',
    reason:
      'the feature gate ContainerStopSignals is off: the container gets the signal that its image names, else SIGTERM',
    find: (pod) => containerPaths(pod, 'lifecycle.stopSignal', ({ lifecycle }) => lifecycle?.stopSignal !== undefined),
  },
]

/** The fields of a pod that would be ignored by an agent which can only do this; nothing is ever ignored in silence. */
export function unsupportedFields(pod: Pod, capabilities: ReadonlySet<PodCapability>): UnsupportedField[] {
  return ROWS.filter(({ capability }) => !capabilities.has(capability)).flatMap(({ find, reason, effect }) =>
    find(pod).map((path) => ({ path, reason, effect })),
  )
}

function pathIf(pod: Pod, path: string, asks: (pod: Pod) => boolean): string[] {
  return asks(pod) ? [path] : []
}

function containerPaths(
  { spec }: Pod,
  field: string,
  asks: (container: Container | EphemeralContainer) => boolean,
): string[] {
  const lists = ['initContainers', 'containers', 'ephemeralContainers'] as const
  return lists.flatMap((list) =>
    (spec[list] ?? []).flatMap((container, index) => (asks(container) ? [`spec.${list}[${index}].${field}`] : [])),
  )
}
