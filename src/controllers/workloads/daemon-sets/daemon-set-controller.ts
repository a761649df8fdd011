import { computeBackOff } from '../../../base/async/back-off.ts'
import { sameValue } from '../../../base/document/same-value.ts'
import type { ControllerRevision, DaemonSet } from '../../../model/generated/api-groups.ts'
import type { Node, Pod } from '../../../model/generated/core-v1.ts'
import { matchesLabelSelector } from '../../../model/pod/matching/matches-label-selector.ts'
import { claimChildren, toControllerReference } from '../ownership/claim-children.ts'
import { isNamespaceEnding } from '../../engine/api-objects.ts'
import { createController, createQueue, queueChanges, queueOwners, reconcileKnown } from '../../engine/controller.ts'
import type { Controller } from '../../engine/controller.ts'
import type { ControllerDeps } from '../../engine/controller-deps.ts'
import { keyOf } from '../../engine/live-object.ts'
import type { Live } from '../../engine/live-object.ts'
import { createObjectEvents } from '../../engine/object-events.ts'
import type { RecordEvent } from '../../engine/object-events.ts'
import { runInBatches } from '../../engine/run-in-batches.ts'
import { sameStatus } from '../../engine/same-status.ts'
import type { NextTurn } from '../../engine/work-queue.ts'
import { PodControl, toPod } from '../pods/pod-control.ts'
import { msUntilAvailable } from '../pods/pod-availability.ts'
import { computeExpiredRevisions } from '../revisions/compute-revision-sync.ts'
import { RevisionCollisionError, syncRevisions } from '../revisions/sync-revisions.ts'
import { computeDaemonNodes, computeDaemonPlan, REVISION_HASH } from './compute-daemon-plan.ts'
import type { DaemonInput, DaemonPlan } from './compute-daemon-plan.ts'
import { computeDaemonStatus } from './compute-daemon-status.ts'
import { computeDaemonTemplate } from './compute-node-fit.ts'

interface Daemons extends Pick<ControllerDeps, 'clock' | 'pods' | 'nodes' | 'daemonSets' | 'revisions'> {
  readonly control: PodControl
  readonly record: RecordEvent
  /** How often pods of a set failed on a node, and when the last one was deleted. */
  readonly failures: Map<string, { readonly count: number; readonly at: number }>
}

const RETRY = { firstMs: 1000, longestMs: 900_000 }
const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation'

/** Keeps a pod of each set on every node that it is for. */
export function createDaemonSetController(deps: ControllerDeps): Controller {
  const { pods, nodes, daemonSets, revisions } = deps
  const queue = createQueue('daemon-sets', deps)
  queueChanges(queue, daemonSets)
  queueOwners(queue, pods, daemonSets, (set, pod) => matches(set, pod.metadata.labels))
  queueOwners(queue, revisions, daemonSets, (set, revision) => matches(set, revision.metadata.labels))
  nodes.known.onChange((after, before) => {
    // Nodes report every few seconds; only what pods are placed by matters.
    if (after !== undefined && before !== undefined && sameValue(placingOf(after), placingOf(before))) return
    for (const set of daemonSets.known.all()) queue.add(keyOf(set))
  })
  const record = createObjectEvents(deps.record, 'daemonset-controller', daemonSets.kind)
  const parts: Daemons = { ...deps, record, control: new PodControl(pods, record), failures: new Map() }
  daemonSets.known.onChange((after, before) => {
    if (after !== undefined || before === undefined) return
    for (const key of parts.failures.keys()) if (key.startsWith(`${before.metadata.uid}/`)) parts.failures.delete(key)
  })
  return createController({
    name: 'daemon-sets',
    queue,
    reads: [pods, nodes, daemonSets, revisions],
    reconcile: reconcileKnown(daemonSets, async (set, signal) => {
      if (set.metadata.deletionTimestamp !== undefined) return undefined
      return await reconcile(parts, set, signal)
    }),
  })
}

async function reconcile(parts: Daemons, set: Live<DaemonSet>, signal: AbortSignal): Promise<NextTurn> {
  const { clock, pods, nodes, daemonSets, revisions } = parts
  const { selector, template, revisionHistoryLimit = 10 } = set.spec
  const collisions = set.status?.collisionCount
  const request = {
    owners: daemonSets,
    owner: set,
    revisions,
    selector,
    template,
    collisions,
    hashLabel: REVISION_HASH,
  }
  const { update, all } = await syncRevisions(request, signal).catch((error: unknown) =>
    avoidCollision(parts, set, error, signal),
  )
  const hash = hashOf(update)
  const own = await claimChildren(
    { owners: daemonSets, owner: set, children: pods, matches: (pod) => matches(set, pod.metadata.labels) },
    signal,
  )
  const input: DaemonInput = { set, hash, nodes: computeDaemonNodes(set, nodes.known.all(), own), now: clock.now() }
  const status = computeDaemonStatus(input)
  if (!sameStatus(status, set.status)) await daemonSets.updateStatus({ ...set, status }, signal)
  const waitMs = await apply(parts, input, computeDaemonPlan(input), signal)
  const used = new Set(own.map(({ metadata }) => metadata.labels?.[REVISION_HASH]))
  const isUsed = (each: Live<ControllerRevision>) => each === update || used.has(hashOf(each))
  for (const expired of computeExpiredRevisions(all, isUsed, revisionHistoryLimit))
    await revisions.remove(expired, {}, signal)
  const waits = [waitMs, ...own.map((pod) => msUntilAvailable(pod, set.spec.minReadySeconds ?? 0, input.now))]
  const next = waits.filter((ms) => ms !== undefined && ms > 0) as number[]
  return next.length === 0 ? undefined : { afterMs: Math.min(...next) }
}

async function avoidCollision(
  { daemonSets }: Daemons,
  set: Live<DaemonSet>,
  error: unknown,
  signal: AbortSignal,
): Promise<never> {
  if (error instanceof RevisionCollisionError) {
    const none = { currentNumberScheduled: 0, desiredNumberScheduled: 0, numberMisscheduled: 0, numberReady: 0 }
    const status = { ...none, ...set.status, collisionCount: (set.status?.collisionCount ?? 0) + 1 }
    await daemonSets.updateStatus({ ...set, status }, signal)
  }
  throw error
}

/** Deletes and creates pods; gives how long to wait for one that failed. */
async function apply(
  parts: Daemons,
  { set, hash }: DaemonInput,
  plan: DaemonPlan,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { control, daemonSets } = parts
  const waiting = new Map(plan.ended.map((each) => [each.pod, computeWait(parts, set, each)] as const))
  const removable = plan.remove.filter((pod) => (waiting.get(pod) ?? 0) === 0)
  for (const { pod, node } of plan.ended) if (removable.includes(pod)) noteEnd(parts, set, pod, node)
  for (const pod of removable) await control.remove(set, pod, signal)
  const reference = toControllerReference(daemonSets.kind, set.metadata)
  const generation = set.metadata.annotations?.[TEMPLATE_GENERATION]
  const labels = { [REVISION_HASH]: hash, ...(generation && { 'pod-template-generation': generation }) }
  const { error } = await runInBatches(plan.create.length, async (index) => {
    const template = computeDaemonTemplate(set.spec.template, plan.create[index] ?? '', labels)
    await control.create(set, toPod(set.metadata.name, reference, template), signal)
  })
  if (error !== undefined && !isNamespaceEnding(error)) throw error
  const waits = [...waiting.values()].filter((ms) => ms > 0)
  return waits.length === 0 ? undefined : Math.min(...waits)
}

interface EndedPod {
  readonly pod: Live<Pod>
  readonly node: string
}

/** A pod that failed is deleted at once, the next one after a second, and later each time; one that succeeded at once. */
function computeWait({ clock, failures }: Daemons, set: Live<DaemonSet>, { pod, node }: EndedPod): number {
  if (pod.status?.phase !== 'Failed') return 0
  const known = failures.get(keyOfFailures(set, node))
  if (known === undefined) return 0
  return Math.max(0, known.at + computeBackOff(RETRY, known.count) - clock.monotonic())
}

function noteEnd({ clock, failures, record }: Daemons, set: Live<DaemonSet>, pod: Live<Pod>, node: string): void {
  const { namespace, name } = pod.metadata
  if (pod.status?.phase !== 'Failed') {
    const message = `Found succeeded daemon pod ${namespace}/${name} on node ${node}, will try to delete it`
    return record(set, 'Normal', 'SucceededDaemonPod', message)
  }
  const key = keyOfFailures(set, node)
  failures.set(key, { count: (failures.get(key)?.count ?? 0) + 1, at: clock.monotonic() })
  const message = `Found failed daemon pod ${namespace}/${name} on node ${node}, will try to kill it`
  record(set, 'Warning', 'FailedDaemonPod', message)
}

/** A new template begins without failures. */
function keyOfFailures({ metadata, status }: Live<DaemonSet>, node: string): string {
  return `${metadata.uid}/${status?.observedGeneration ?? 0}/${node}`
}

function hashOf({ metadata }: Live<ControllerRevision>): string {
  return metadata.labels?.[REVISION_HASH] ?? ''
}

function placingOf({ metadata, spec }: Node): object {
  return { labels: metadata?.labels, taints: spec?.taints }
}

function matches({ spec }: Live<DaemonSet>, labels: Readonly<Record<string, string>> | undefined): boolean {
  return matchesLabelSelector(spec.selector, labels ?? {})
}
