import { formatPortProblem, needsPort } from '../controllers/network/ingress/compute-port-problems.ts'
import type { IngressPorts, PortProblem } from '../controllers/network/ingress/ingress-ports.ts'
import type { Ingress, IngressClass, StorageClass } from '../model/generated/api-groups.ts'
import { OWN_INGRESS_CONTROLLER } from '../model/networking/ingress-classes.ts'
import { SELECTED_NODE, waitsForConsumer } from '../model/storage/storage-classes.ts'

/** What is read of an object that runs pods or waits for something. */
export interface WorkloadObject {
  readonly metadata?: { readonly generation?: number; readonly annotations?: Readonly<Record<string, string>> }
  readonly spec?: { readonly replicas?: number; readonly storageClassName?: string }
  readonly status?: {
    readonly phase?: string
    readonly observedGeneration?: number
    readonly readyReplicas?: number
    readonly updatedReplicas?: number
    readonly numberReady?: number
    readonly desiredNumberScheduled?: number
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[]
  }
}

/** What is read of a pod. */
interface SummarizedPod {
  readonly namespace: string
  readonly name: string
  readonly phase: string
  readonly ready: boolean
  readonly waiting: string
  readonly isControlled: boolean
}

/**
 * The pods that are neither ready nor done, each with the reason. One that is being ended is of no interest, nor is one that
 * failed if an owner answers for it: a Job tries again or fails itself, a ReplicaSet has made another.
 */
export function computeUnreadyPods(pods: readonly SummarizedPod[]): readonly string[] {
  return pods
    .filter(({ ready, phase }) => !ready && phase !== 'Succeeded' && phase !== 'Terminating')
    .filter(({ phase, isControlled }) => phase !== 'Failed' || !isControlled)
    .map(({ namespace, name, phase, waiting }) => `${namespace}/${name}: ${waiting === '' ? phase : waiting}`)
}

/** Why requests for an Ingress do not come in; undefined when they do, and when another controller sees to that. */
export function computeUnreadyIngress(
  ingress: Pick<Ingress, 'spec'>,
  ingressClass: IngressClass | undefined,
  node: {
    readonly asked: Partial<IngressPorts>
    /** Undefined before the ports were tried. */
    readonly problems: readonly PortProblem[] | undefined
  },
): string | undefined {
  const { asked, problems } = node
  if (ingressClass?.spec?.controller !== OWN_INGRESS_CONTROLLER) return undefined
  if (problems === undefined) return 'the ports of the ingress are not open yet'
  const own = problems.filter((problem) => needsPort(ingress, asked, problem))
  return own.length === 0 ? undefined : own.map(formatPortProblem).join('; ')
}

/** Why an object is not what it is to be yet; undefined when it is, and for kinds that are so at once. A claim is judged by its class. */
export function computeUnreadyObject(
  kind: string,
  { metadata, spec, status = {} }: WorkloadObject,
  storageClass?: StorageClass,
): string | undefined {
  switch (kind) {
    case 'Deployment':
    case 'ReplicaSet':
    case 'ReplicationController':
    case 'StatefulSet': {
      const wanted = spec?.replicas ?? 1
      const ready = status.readyReplicas ?? 0
      // Those of an older version are ready too, and do not count; a ReplicaSet has only one.
      const isUpdated =
        kind === 'ReplicaSet' || kind === 'ReplicationController' || (status.updatedReplicas ?? 0) >= wanted
      if (isObserved(metadata, status) && isUpdated && ready >= wanted) return undefined
      return `${ready} of ${wanted} replicas are ready`
    }
    case 'DaemonSet': {
      const wanted = status.desiredNumberScheduled
      if (isObserved(metadata, status) && wanted !== undefined && (status.numberReady ?? 0) >= wanted) return undefined
      return `${status.numberReady ?? 0} of ${wanted ?? 1} pods are ready`
    }
    case 'Job': {
      const has = (name: string) => status.conditions?.find(({ type, status: is }) => type === name && is === 'True')
      if (has('Complete') !== undefined) return undefined
      const failed = has('Failed')
      return failed === undefined ? 'is not complete' : `failed: ${failed.message ?? ''}`
    }
    case 'PersistentVolumeClaim':
      // One that no pod uses has nothing to wait for; a pod that uses it is not ready before it is bound.
      if (status.phase === 'Pending' && waitsForConsumer(storageClass) && !isNeeded(metadata)) return undefined
      return status.phase === 'Bound' ? undefined : 'is not bound'
    default:
      return undefined
  }
}

/** Whether a pod that uses the claim has its node. */
function isNeeded(metadata: WorkloadObject['metadata']): boolean {
  return metadata?.annotations?.[SELECTED_NODE] !== undefined
}

function isObserved(metadata: WorkloadObject['metadata'], status: NonNullable<WorkloadObject['status']>): boolean {
  return (status.observedGeneration ?? 0) >= (metadata?.generation ?? 0)
}
