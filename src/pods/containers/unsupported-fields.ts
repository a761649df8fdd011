import type { Container, EphemeralContainer } from '../../model/generated/core-v1.ts'
import type { Pod } from '../../model/pod/pod.ts'

/** Things that a pod can ask for and that not every agent, node or runtime can do. */
export type PodCapability =
  | 'imageSubPaths'
  | 'imageVolumes'
  | 'resourceClaims'
  | 'runtimeStopSignals'
  | 'stopSignals'
  | 'userNamespaces'

/** Those that the runtime has to support. What runs has them, even if the runtime no longer reports them. */
export const RUNTIME_CAPABILITIES: readonly PodCapability[] = ['imageSubPaths', 'imageVolumes', 'userNamespaces']

/** A field of a pod that would not be honoured. */
export interface UnsupportedField {
  /** As in an event: spec.containers[0].volumeMounts. */
  readonly path: string
  readonly reason: string
  /** Reject: the pod must not run like this. Warn: it runs, and its users have to know. */
  readonly effect: 'reject' | 'warn'
}

interface Row {
  readonly capability: PodCapability
  readonly effect: UnsupportedField['effect']
  readonly reason: string
  /** The paths at which the pod asks for it. */
  readonly find: (pod: Pod) => readonly string[]
}

const ROWS: readonly Row[] = [
  {
    capability: 'imageVolumes',
    effect: 'reject',
    reason: 'the container runtime cannot mount images; containerd can from 2.1 on, CRI-O from 1.31 on, Docker cannot',
    find: ({ spec }) =>
      (spec.volumes ?? []).flatMap(({ image }, index) => (image === undefined ? [] : [`spec.volumes[${index}].image`])),
  },
  {
    capability: 'imageSubPaths',
    effect: 'reject',
    reason:
      'the container runtime can mount images only whole; containerd mounts parts from 2.2 on, CRI-O from 1.33 on',
    find: (pod) =>
      containerPaths(pod, 'volumeMounts', ({ volumeMounts = [] }) =>
        volumeMounts.some(
          ({ name, subPath = '', subPathExpr = '' }) => isImageVolume(pod, name) && `${subPath}${subPathExpr}` !== '',
        ),
      ),
  },
  {
    capability: 'resourceClaims',
    effect: 'reject',
    reason: 'this node has no API server from which resource claims could be read',
    find: (pod) => [
      ...pathIf(pod, 'spec.resourceClaims', ({ spec }) => (spec.resourceClaims ?? []).length > 0),
      ...containerPaths(pod, 'resources.claims', ({ resources }) => (resources?.claims ?? []).length > 0),
    ],
  },
  {
    capability: 'userNamespaces',
    effect: 'reject',
    reason:
      'the container runtime does not support user namespaces; containerd does from 2.0 on, CRI-O from 1.25 on, Docker has none for single pods',
    // Other handlers than the usual one are asked when the runtime class of the pod is known: before its sandbox is made.
    find: (pod) =>
      pathIf(pod, 'spec.hostUsers', ({ spec }) => spec.hostUsers === false && (spec.runtimeClassName ?? '') === ''),
  },
  {
    capability: 'stopSignals',
    effect: 'warn',
    reason:
      'the feature gate ContainerStopSignals is off: the container gets the signal that its image names, else SIGTERM',
    find: findStopSignals,
  },
  {
    capability: 'runtimeStopSignals',
    effect: 'warn',
    reason:
      'the container runtime does not follow it, containerd does from 2.3 on: the container gets the signal that its image names, else SIGTERM',
    find: findStopSignals,
  },
]

/** The fields of a pod that would be ignored by an agent which can only do this; nothing is ever ignored in silence. */
export function unsupportedFields(pod: Pod, capabilities: ReadonlySet<PodCapability>): UnsupportedField[] {
  return ROWS.filter(({ capability }) => !capabilities.has(capability)).flatMap(({ find, reason, effect }) =>
    find(pod).map((path) => ({ path, reason, effect })),
  )
}

function findStopSignals(pod: Pod): string[] {
  return containerPaths(pod, 'lifecycle.stopSignal', ({ lifecycle }) => lifecycle?.stopSignal !== undefined)
}

function isImageVolume({ spec }: Pod, volumeName: string): boolean {
  return (spec.volumes ?? []).some(({ name, image }) => name === volumeName && image !== undefined)
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
