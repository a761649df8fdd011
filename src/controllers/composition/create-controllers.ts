import type { Clock } from '../../base/async/clock.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type {
  ControllerRevision,
  CronJob,
  DaemonSet,
  Deployment,
  EndpointSlice,
  HorizontalPodAutoscaler,
  Ingress,
  IngressClass,
  Job,
  NetworkPolicy,
  PodDisruptionBudget,
  ReplicaSet,
  StatefulSet,
  StorageClass,
} from '../../model/generated/api-groups.ts'
import type {
  Endpoints,
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  Secret,
  Service,
} from '../../model/generated/core-v1.ts'
import type { KubeClient } from '../../protocols/kube-api/kube-client.ts'
import type { KubeObject } from '../../protocols/kube-api/list-watch/kube-object.ts'
import { createAutoscalerController } from '../workloads/autoscalers/autoscaler-controller.ts'
import { createCronJobController } from '../workloads/cron-jobs/cron-job-controller.ts'
import { createDaemonSetController } from '../workloads/daemon-sets/daemon-set-controller.ts'
import { createDisruptionBudgetController } from '../workloads/disruption-budgets/disruption-budget-controller.ts'
import { createDnsController } from '../network/dns/dns-controller.ts'
import type { DnsOptions } from '../network/dns/dns-controller.ts'
import { createDeploymentController } from '../workloads/deployments/deployment-controller.ts'
import { createEndpointSliceController } from '../network/endpoints/endpoint-slice-controller.ts'
import { createMirroringController } from '../network/endpoints/mirroring-controller.ts'
import type { ApiObjects } from '../engine/api-objects.ts'
import type { ControllerDeps } from '../engine/controller-deps.ts'
import type { Controller } from '../engine/controller.ts'
import { createIngressController, createUnservedIngresses } from '../network/ingress/ingress-controller.ts'
import type { IngressOptions } from '../network/ingress/ingress-controller.ts'
import { createJobController, createJobOrphanController } from '../workloads/jobs/job-controller.ts'
import { createLoadBalancerController } from '../network/load-balancers/load-balancer-controller.ts'
import { createMasquerade } from '../network/masquerade/masquerade.ts'
import type { MasqueradeOptions } from '../network/masquerade/masquerade.ts'
import { createPolicyController, createUnenforcedPolicies } from '../network/network-policies/policy-controller.ts'
import type { PolicyOptions } from '../network/network-policies/policy-controller.ts'
import { createServiceProxy } from '../network/service-proxy/service-proxy.ts'
import type { ServiceProxyOptions } from '../network/service-proxy/service-proxy.ts'
import { createReplicaSetController } from '../workloads/replica-sets/replica-set-controller.ts'
import { createStatefulSetController } from '../workloads/stateful-sets/stateful-set-controller.ts'
import { createClaimController } from '../storage/claim-controller.ts'
import { createEphemeralClaimController } from '../storage/ephemeral-claim-controller.ts'
import type { LocalVolumeFolders } from '../storage/local-volume-folders.ts'
import { createVolumeController } from '../storage/volume-controller.ts'
import { createTaintEvictionController } from '../workloads/taint-eviction/taint-eviction-controller.ts'

/** The parts that can be switched off, and the controllers of each. */
const parts: Readonly<Record<string, readonly ((deps: ControllerDeps) => Controller)[]>> = {
  deployments: [createReplicaSetController, createDeploymentController],
  daemonsets: [createDaemonSetController],
  statefulsets: [createStatefulSetController],
  budgets: [createDisruptionBudgetController],
  taints: [createTaintEvictionController],
  jobs: [createJobController, createJobOrphanController, createCronJobController],
  services: [createEndpointSliceController, createMirroringController],
}

export interface ControllersDeps {
  readonly client: KubeClient
  readonly nodeName: string
  /** Names of parts that are switched off. */
  readonly without: readonly string[]
  /** Where names are answered; nowhere when absent. */
  readonly dns?: Omit<DnsOptions, 'random'> | undefined
  /** How connections for services get to their pods; they do not when absent. */
  readonly proxy?: Omit<ServiceProxyOptions, 'nodeName'> | undefined
  /** How network policies are enforced, or why they are not. */
  readonly policies?: PolicyOptions | { readonly refusal: string } | undefined
  /** How pods reach other machines; another program sees to it when absent. */
  readonly masquerade?: MasqueradeOptions | undefined
  /** Where Ingresses are served, or why they are not. */
  readonly ingress?: IngressOptions | { readonly refusal: string } | undefined
  /** Where the data of volumes are; none are made when absent. */
  readonly folders?: LocalVolumeFolders | undefined
  readonly clock: Clock
  readonly random: () => number
  readonly newUid: () => string
  readonly log: Logger
}

/** Follows the objects of a kind; one of them for all controllers. */
export type OpenObjects = <T extends KubeObject>(
  apiVersion: string,
  kind: string,
  plural: string,
  fieldSelector?: string,
) => ApiObjects<T>

/** The controllers of all parts that are not switched off. */
export function createControllers(
  deps: ControllersDeps,
  open: OpenObjects,
  record: ControllerDeps['record'],
): readonly Controller[] {
  const { clock, random, log } = deps
  const shared: ControllerDeps = {
    clock,
    log,
    record,
    pods: open<Pod>('v1', 'Pod', 'pods'),
    replicaSets: open<ReplicaSet>('apps/v1', 'ReplicaSet', 'replicasets'),
    deployments: open<Deployment>('apps/v1', 'Deployment', 'deployments'),
    nodes: open<Node>('v1', 'Node', 'nodes'),
    daemonSets: open<DaemonSet>('apps/v1', 'DaemonSet', 'daemonsets'),
    revisions: open<ControllerRevision>('apps/v1', 'ControllerRevision', 'controllerrevisions'),
    statefulSets: open<StatefulSet>('apps/v1', 'StatefulSet', 'statefulsets'),
    claims: open<PersistentVolumeClaim>('v1', 'PersistentVolumeClaim', 'persistentvolumeclaims'),
    budgets: open<PodDisruptionBudget>('policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets'),
    jobs: open<Job>('batch/v1', 'Job', 'jobs'),
    cronJobs: open<CronJob>('batch/v1', 'CronJob', 'cronjobs'),
    services: open<Service>('v1', 'Service', 'services'),
    slices: open<EndpointSlice>('discovery.k8s.io/v1', 'EndpointSlice', 'endpointslices'),
    endpoints: open<Endpoints>('v1', 'Endpoints', 'endpoints'),
  }
  const controllers = Object.entries(parts)
    .filter(([part]) => !deps.without.includes(part))
    .flatMap(([, create]) => create.map((each) => each(shared)))
  const { proxy, dns, folders, nodeName } = deps
  if (!deps.without.includes('services'))
    controllers.push(createLoadBalancerController(shared, ingressPorts(deps.ingress)))
  if (!deps.without.includes('autoscalers')) {
    const plural = 'horizontalpodautoscalers'
    const autoscalers = open<HorizontalPodAutoscaler>('autoscaling/v2', 'HorizontalPodAutoscaler', plural)
    controllers.push(createAutoscalerController({ ...shared, client: deps.client, autoscalers }))
  }
  if (folders !== undefined && !deps.without.includes('storage')) {
    const volumes = open<PersistentVolume>('v1', 'PersistentVolume', 'persistentvolumes')
    const storageClasses = open<StorageClass>('storage.k8s.io/v1', 'StorageClass', 'storageclasses')
    const storage = { ...shared, nodeName, volumes, storageClasses, folders }
    controllers.push(createClaimController(storage), createVolumeController(storage))
    controllers.push(createEphemeralClaimController(shared))
  }
  const namespaces = open<Namespace>('v1', 'Namespace', 'namespaces')
  if (dns !== undefined && !deps.without.includes('dns'))
    controllers.push(createDnsController({ ...shared, namespaces }, { ...dns, random }))
  if (deps.policies !== undefined) {
    const policies = open<NetworkPolicy>('networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies')
    controllers.push(
      'refusal' in deps.policies
        ? createUnenforcedPolicies({ ...shared, policies }, deps.policies.refusal)
        : createPolicyController({ ...shared, policies, namespaces }, deps.policies),
    )
  }
  if (deps.ingress !== undefined) {
    const group = 'networking.k8s.io/v1'
    const ingresses = open<Ingress>(group, 'Ingress', 'ingresses')
    const classes = open<IngressClass>(group, 'IngressClass', 'ingressclasses')
    if ('refusal' in deps.ingress)
      controllers.push(createUnservedIngresses({ ...shared, ingresses, classes }, deps.ingress.refusal))
    else {
      const secrets = open<Secret>('v1', 'Secret', 'secrets', 'type=kubernetes.io/tls')
      controllers.push(createIngressController({ ...shared, nodeName, ingresses, classes, secrets }, deps.ingress))
    }
  }
  if (deps.masquerade !== undefined) controllers.push(createMasquerade(shared, deps.masquerade))
  if (proxy !== undefined && !deps.without.includes('services'))
    controllers.push(createServiceProxy(shared, { ...proxy, nodeName }))
  return controllers
}

/** The ports of the node that are not for balancers. */
function ingressPorts(ingress: ControllersDeps['ingress']): readonly number[] {
  if (ingress === undefined || 'refusal' in ingress) return []
  return [ingress.ports.http, ingress.ports.https].filter((port) => port !== undefined)
}
