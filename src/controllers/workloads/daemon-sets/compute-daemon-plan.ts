import type { DaemonSet } from '../../../model/generated/api-groups.ts'
import type { Node, Pod } from '../../../model/generated/core-v1.ts'
import { resolveIntOrPercent } from '../../engine/int-or-percent.ts'
import type { Live } from '../../engine/live-object.ts'
import { isAvailable, isReady, isTerminal } from '../pods/pod-availability.ts'
import { computeNodeFit } from './compute-node-fit.ts'
import type { NodeFit } from './compute-node-fit.ts'

export const REVISION_HASH = 'controller-revision-hash'

/** A node with the pods that the set has on it. */
export interface DaemonNode {
  readonly name: string
  readonly fit: NodeFit
  /** Without those that have ended and are being deleted. */
  readonly pods: readonly Live<Pod>[]
}

export interface DaemonPlan {
  /** Names of the nodes that get a pod. */
  readonly create: readonly string[]
  readonly remove: readonly Live<Pod>[]
  /** Of those, the ones that ended by themselves: users want to know, and the next one may have to wait. */
  readonly ended: readonly { readonly pod: Live<Pod>; readonly node: string }[]
}

export interface DaemonInput {
  readonly set: Live<DaemonSet>
  readonly nodes: readonly DaemonNode[]
  readonly hash: string
  readonly now: number
}

/** The nodes of a set with its pods; a pod that is not bound yet belongs to the node that it was made for. */
export function computeDaemonNodes(
  set: Live<DaemonSet>,
  nodes: readonly Live<Node>[],
  pods: readonly Live<Pod>[],
): readonly DaemonNode[] {
  const live = pods.filter((pod) => pod.metadata.deletionTimestamp === undefined || !isTerminal(pod))
  return nodes.map((node) => ({
    name: node.metadata.name,
    fit: computeNodeFit(set, node),
    pods: live.filter((pod) => nodeOf(pod) === node.metadata.name),
  }))
}

function nodeOf({ spec }: Live<Pod>): string {
  if (spec.nodeName) return spec.nodeName
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
  return terms[0]?.matchFields?.find(({ key }) => key === 'metadata.name')?.values?.[0] ?? ''
}

/** Which pods a set makes and deletes: where they are missing, doubled, ended or misplaced, and then for an update. */
export function computeDaemonPlan(input: DaemonInput): DaemonPlan {
  const placed = input.nodes.map((node) => computePlacement(input, node))
  const plan: DaemonPlan = {
    create: placed.flatMap(({ create }) => create),
    remove: placed.flatMap(({ remove }) => remove),
    ended: placed.flatMap(({ ended }) => ended),
  }
  // An update goes on when the pods are as they should be otherwise.
  if (plan.create.length + plan.remove.length > 0 || input.set.spec.updateStrategy?.type !== 'RollingUpdate')
    return plan
  return computeUpdate(input)
}

function limitsOf({ set, nodes }: DaemonInput): { readonly surge: number; readonly unavailable: number } {
  const total = nodes.filter(({ fit }) => fit.shouldRun).length
  const { maxSurge, maxUnavailable } = set.spec.updateStrategy?.rollingUpdate ?? {}
  const isRolling = set.spec.updateStrategy?.type === 'RollingUpdate'
  const surge = isRolling ? resolveIntOrPercent(maxSurge, total, 'up') : 0
  const resolved = resolveIntOrPercent(maxUnavailable, total, 'up')
  return { surge, unavailable: surge === 0 ? Math.max(1, resolved) : resolved }
}

function computePlacement(input: DaemonInput, { name, fit, pods }: DaemonNode): DaemonPlan {
  const staying = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  if (!fit.mayStay) return { create: [], remove: staying, ended: [] }
  const ended = staying.filter(isTerminal).map((pod) => ({ pod, node: name }))
  const running = staying.filter((pod) => !isTerminal(pod)).toSorted(compareAges)
  const doubled = limitsOf(input).surge > 0 ? doubledWithSurge(input, running) : running.slice(1)
  return {
    create: fit.shouldRun && pods.length === 0 ? [name] : [],
    remove: [...ended.map(({ pod }) => pod), ...doubled],
    ended,
  }
}

/** One of each template may be there. */
function doubledWithSurge({ hash }: DaemonInput, running: readonly Live<Pod>[]): readonly Live<Pod>[] {
  const updated = running.filter((pod) => isUpdated(pod, hash))
  const old = running.filter((pod) => !isUpdated(pod, hash))
  return [...updated.slice(1), ...old.slice(1)]
}

function computeUpdate(input: DaemonInput): DaemonPlan {
  const { surge } = limitsOf(input)
  const nodes = input.nodes.filter(({ fit }) => fit.shouldRun)
  return surge > 0 ? computeSurge(input, nodes, surge) : computeReplacement(input, nodes)
}

/** An old pod goes first, its successor comes when it is gone; as many at a time as may be missing. */
function computeReplacement(input: DaemonInput, nodes: readonly DaemonNode[]): DaemonPlan {
  const { hash, set, now } = input
  const isUp = (pod: Live<Pod>) => isAvailable(pod, set.spec.minReadySeconds ?? 0, now)
  const states = nodes.map(({ pods }) => {
    const old = pods.find((pod) => !isUpdated(pod, hash) && pod.metadata.deletionTimestamp === undefined)
    return { old, isUp: pods.some((pod) => pod.metadata.deletionTimestamp === undefined && isUp(pod)) }
  })
  const broken = states.filter((state) => !state.isUp).length
  const free = Math.max(0, limitsOf(input).unavailable - broken)
  const down = states.flatMap((state) => (!state.isUp && state.old !== undefined ? [state.old] : []))
  const up = states.flatMap((state) => (state.isUp && state.old !== undefined ? [state.old] : []))
  return { create: [], remove: [...down, ...up.slice(0, free)], ended: [] }
}

/** A new pod comes first, the old one goes when it is available. */
function computeSurge({ hash, set, now }: DaemonInput, nodes: readonly DaemonNode[], surge: number): DaemonPlan {
  const isUp = (pod: Live<Pod>) => isAvailable(pod, set.spec.minReadySeconds ?? 0, now)
  const create: string[] = []
  const remove: Live<Pod>[] = []
  const waiting: string[] = []
  let used = 0
  for (const { name, pods } of nodes) {
    const staying = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    const updated = staying.find((pod) => isUpdated(pod, hash))
    const old = staying.find((pod) => !isUpdated(pod, hash))
    if (old === undefined) continue
    if (updated === undefined) {
      if (isUp(old)) waiting.push(name)
      else create.push(name)
    } else if (isUp(updated) || !isReady(old)) remove.push(old)
    else used += 1
  }
  return { create: [...create, ...waiting.slice(0, Math.max(0, surge - used))], remove, ended: [] }
}

export function isUpdated({ metadata }: Live<Pod>, hash: string): boolean {
  return metadata.labels?.[REVISION_HASH] === hash
}

/** Those with a node first, then the oldest. */
function compareAges(a: Live<Pod>, b: Live<Pod>): number {
  const placed = Number(Boolean(b.spec.nodeName)) - Number(Boolean(a.spec.nodeName))
  const [first = '', second = ''] = [a.metadata.creationTimestamp, b.metadata.creationTimestamp]
  if (placed !== 0) return placed
  return first === second ? (a.metadata.name < b.metadata.name ? -1 : 1) : first < second ? -1 : 1
}
