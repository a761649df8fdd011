import { computeAdmission, computeFirstRejection, isOnlyAgainstMarks } from './compute-admission.ts'
import type { AdmissionInfo } from './compute-admission.ts'
import { computeUnknownResources } from '../../model/resources/fit/compute-unknown-resources.ts'
import type { NodePressures } from '../../model/resources/fit/node-pressures.ts'
import { computeRaisedAmounts } from './compute-raised-amounts.ts'
import { computeSafeSysctls } from './compute-safe-sysctls.ts'
import type { Rejection } from './rejection.ts'
import type { Settings } from '../../model/config/load-configuration.ts'
import type { PodCapability } from '../containers/unsupported-fields.ts'
import type { KernelInfo } from '../../system/machine/read-kernel.ts'
import { withoutClaimed } from '../../model/resources/without-claimed.ts'
import { parseAmounts } from '../../model/resources/compute-pod-requests.ts'
import type { Node } from '../../model/generated/core-v1.ts'
import type { Pod, PodUid } from '../../model/pod/pod.ts'
import type { RuntimeFeatures } from '../../model/pod/runtime-features.ts'
import type { PodEvents } from '../../model/events/pod-events.ts'

/**
 * Gives containers something of the node for themselves, when their pod is admitted. Placement is one: it gives CPUs, memory and
 * what else has a place in the machine.
 */
export interface ResourceProvider {
  /** Why the pod cannot have what it asks for; undefined when it has it now, or asks for nothing. */
  admit(pod: Pod): Rejection | undefined
  /** The pod does not run here after all, or has gone. */
  release(uid: PodUid): void
}

/** What becomes of a pod that has to leave for another: what its status says when it has ended. */
interface Eviction {
  readonly reason: string
  readonly message: string
  /** What its condition DisruptionTarget says. */
  readonly disruption: string
}

export interface NodeAdmissionDeps {
  readonly settings: Pick<Settings, 'gates'> & { readonly config: Pick<Settings['config'], 'allowedUnsafeSysctls'> }
  readonly kernel: KernelInfo
  /** What the runtime can do now. */
  readonly features: () => RuntimeFeatures
  /** The Node object, or one made up while there is none. */
  readonly node: () => Node | undefined
  /** What the node has for pods. */
  readonly allocatable: () => Readonly<Record<string, string>>
  /** How many of each resource containers have: the node has at least as much, also when its plugins are away. */
  readonly takenDevices: () => ReadonlyMap<string, number>
  /** The desired pods that were admitted and have not ended. */
  readonly admittedPods: () => readonly Pod[]
  /** The pods that are not desired any more and have not ended. */
  readonly endingPods: () => readonly Pod[]
  readonly pressures: () => NodePressures
  /** Pods end, and none is taken. */
  readonly isShuttingDown: () => boolean
  /** Those who give containers something for themselves, in the order in which they are asked. */
  readonly providers: readonly ResourceProvider[]
  /** Can claims of devices be read? */
  readonly hasResourceClaims: boolean
  /** As the node's status has them; undefined when it declares none. */
  readonly declaredFeatures: readonly string[] | undefined
  /** Begins to end a pod, with its own grace period. */
  readonly evict: (pod: Pod, eviction: Eviction) => void
  readonly metrics: {
    /** A pod has to leave for a critical one, which lacks this resource. */
    preemption(resource: string): void
  }
  readonly events: PodEvents
}

const PREEMPTION: Eviction = {
  reason: 'Preempting',
  message: 'Preempted in order to admit critical pod',
  disruption: 'Pod was preempted by Kubelet to accommodate a critical pod.',
}

/** The questions before a pod gets a worker: can its spec be honoured, and may it run here? */
export function createNodeAdmission(deps: NodeAdmissionDeps) {
  const { settings, kernel, features, evict, metrics, events } = deps
  const allowedSysctls = [...computeSafeSysctls(kernel.release), ...settings.config.allowedUnsafeSysctls]
  // Those that leave for another pod: their room is given away, so it must not be counted, nor given away again.
  let leaving: ReadonlySet<PodUid> = new Set()
  // What a claim gives them is none of what the node has.
  const own = (pod: Pod) => (settings.gates.enabled('DRAExtendedResource') ? withoutClaimed(pod) : pod)
  const readInfo = (pod: Pod): AdmissionInfo => {
    const admitted = deps.admittedPods().map(own)
    leaving = new Set(admitted.map(({ metadata }) => metadata.uid).filter((uid) => leaving.has(uid)))
    return {
      allowedSysctls,
      appArmor: kernel.appArmor,
      supplementalGroupsPolicy: features().supplementalGroupsPolicy,
      node: deps.node(),
      allocatable: parseAmounts(deps.allocatable()),
      otherPods: admitted.filter(({ metadata: { uid } }) => uid !== pod.metadata.uid && !leaving.has(uid)),
      endingPods: deps.endingPods(),
      pressures: deps.pressures(),
      isShuttingDown: deps.isShuttingDown(),
      taintComparisons: settings.gates.enabled('TaintTolerationComparisonOperators'),
      podLevelResources: settings.gates.enabled('PodLevelResources'),
      declaredFeatures: deps.declaredFeatures,
    }
  }
  // In a cluster the scheduler keeps such pods away; a standalone node has none.
  const reportUnknown = (pod: Pod, { allocatable }: AdmissionInfo) => {
    for (const resource of computeUnknownResources(own(pod), allocatable)) {
      const message = `This node has no "${resource}": containers that ask for it run without`
      events.record(pod, { type: 'Warning', reason: 'UnknownResource', message })
    }
  }
  const admit = (pod: Pod, info: AdmissionInfo, providers: readonly ResourceProvider[]): Rejection | undefined => {
    const rejection = computeFirstRejection(pod, info) ?? provide(providers, pod)
    if (rejection !== undefined) return rejection
    const allocatable = computeRaisedAmounts(info.allocatable, deps.takenDevices())
    const decision = computeAdmission(own(pod), { ...info, allocatable })
    if (decision.kind === 'reject') {
      for (const provider of providers) provider.release(pod.metadata.uid)
      return decision.rejection
    }
    if (decision.kind === 'admit') return undefined
    leaving = new Set([...leaving, ...decision.victims.map(({ metadata }) => metadata.uid)])
    for (const victim of decision.victims) {
      events.record(victim, { type: 'Warning', reason: PREEMPTION.reason, message: PREEMPTION.message })
      metrics.preemption(decision.resource)
      evict(victim, PREEMPTION)
    }
    return undefined
  }
  return {
    capabilities: () => listCapabilities(deps),

    /** Says why the pod may not run here; others may have to leave for one that may. */
    admit(pod: Pod): Rejection | undefined {
      const info = readInfo(pod)
      const rejection = admit(pod, info, deps.providers)
      if (rejection === undefined) reportUnknown(pod, info)
      return rejection
    },

    /** The same for one that runs and wants to be of another size; what it has for itself alone, it keeps either way. */
    admitResize: (pod: Pod): Rejection | undefined => admit(pod, readInfo(pod), []),

    /** True for a pod that only labels or taints of the node are against: ask the API for the Node before such a pod is rejected for good. */
    wantsFreshNode: (pod: Pod): boolean => isOnlyAgainstMarks(pod, readInfo(pod)),
  }
}

/** All or nothing: what one cannot give is the end of it. */
function provide(providers: readonly ResourceProvider[], pod: Pod): Rejection | undefined {
  for (const provider of providers) {
    const rejection = provider.admit(pod)
    if (rejection === undefined) continue
    for (const each of providers) each.release(pod.metadata.uid)
    return rejection
  }
  return undefined
}

/** What the agent and its runtime can do now, of what not every one can. */
function listCapabilities({
  settings,
  features,
  hasResourceClaims,
}: Pick<NodeAdmissionDeps, 'settings' | 'features' | 'hasResourceClaims'>): ReadonlySet<PodCapability> {
  const { handlers, imageVolumes, stopSignals } = features()
  const hasGate = settings.gates.enabled('ContainerStopSignals')
  return new Set<PodCapability>([
    ...(hasGate ? (['stopSignals'] as const) : []),
    // One reason is enough.
    ...(stopSignals || !hasGate ? (['runtimeStopSignals'] as const) : []),
    ...(hasResourceClaims ? (['resourceClaims'] as const) : []),
    ...(handlers.get('')?.userNamespaces === true ? (['userNamespaces'] as const) : []),
    ...(imageVolumes === 'none' ? [] : (['imageVolumes'] as const)),
    ...(imageVolumes === 'parts' || imageVolumes === 'unknown' ? (['imageSubPaths'] as const) : []),
  ])
}
