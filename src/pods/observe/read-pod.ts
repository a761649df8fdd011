import { CriCallError } from '../../protocols/cri/cri-call-error.ts'
import type { CriCalls } from '../../protocols/cri/cri-calls.ts'
import type { Container, ContainerStatus, PodSandbox } from '../../protocols/cri/generated/runtime-v1.ts'
import type { ObservedContainer, ObservedPod, ObservedSandbox } from '../../model/pod/observed-pod.ts'
import type { PodUid } from '../../model/pod/pod.ts'
import {
  hasListedState,
  isSandboxReady,
  POD_NAME_LABEL,
  POD_NAMESPACE_LABEL,
  toMilliseconds,
  toObservedContainer,
  toObservedSandbox,
} from './to-observed.ts'

/** The calls that observing needs. */
export type RuntimeView = Pick<CriCalls, 'listPodSandbox' | 'listContainers' | 'podSandboxStatus' | 'containerStatus'>

/** What the lists say of one pod. */
export interface ListedPod {
  readonly uid: PodUid
  readonly sandboxes: readonly PodSandbox[]
  readonly containers: readonly Container[]
}

/** What was known before. */
interface KnownPod {
  readonly known: ObservedPod | undefined
  /** What is known may be wrong although no state changed: all of it has to be read again. */
  readonly isOutdated: boolean
  /** What was not known was there before this agent. */
  readonly isAdopted: boolean
  /** On the monotonic clock. */
  readonly now: number
  /** To compare with what the runtime says of an adopted container. */
  readonly timeOfDay: number
}

/** A pod as it was read, and what the lists left out although the runtime has it. */
export interface ReadPod {
  readonly pod: ObservedPod
  readonly omitted: readonly string[]
}

/** True when the lists have the parts of a pod that were known, in the same states: then there is nothing to ask for. */
export function isListedAsKnown({ sandboxes, containers }: ListedPod, known: ObservedPod | undefined): boolean {
  return (
    known !== undefined &&
    sandboxes.length === known.sandboxes.length &&
    containers.length === known.containers.length &&
    sandboxes.every((listed) => findSandbox(known, listed) !== undefined) &&
    containers.every((listed) => findContainer(known, listed) !== undefined)
  )
}

/**
 * Completes what the lists say of a pod. Only parts whose state changed since the last read are asked for: the rest of what a status
 * holds does not change while the state stays. A part that was there and is not listed is gone only if the runtime does not know its id
 * either: a list that is empty or cut short restarts and loses nothing.
 */
export async function readPod(
  runtime: RuntimeView,
  listed: ListedPod,
  before: KnownPod,
  signal: AbortSignal,
): Promise<ReadPod> {
  const { known } = before
  const unlistedSandboxes = unlisted(known?.sandboxes ?? [], listed.sandboxes)
  const unlistedContainers = unlisted(known?.containers ?? [], listed.containers)
  const [sandboxes, containers, keptSandboxes, keptContainers] = await Promise.all([
    Promise.all(listed.sandboxes.map((sandbox) => readSandbox(runtime, sandbox, before, signal))),
    Promise.all(listed.containers.map((container) => readContainer(runtime, container, before, signal))),
    Promise.all(unlistedSandboxes.map((sandbox) => confirmSandbox(runtime, sandbox, signal))),
    Promise.all(unlistedContainers.map((container) => confirmContainer(runtime, container, before, signal))),
  ])
  const kept = [...keptSandboxes, ...keptContainers].filter((part) => part !== undefined)
  return {
    pod: toPod(listed, known, {
      sandboxes: [...sandboxes, ...keptSandboxes],
      containers: [...containers, ...keptContainers],
    }),
    omitted: kept.map(({ id }) => id),
  }
}

interface Parts {
  readonly sandboxes: readonly (ObservedSandbox | undefined)[]
  readonly containers: readonly (ObservedContainer | undefined)[]
}

function toPod(listed: ListedPod, known: ObservedPod | undefined, { sandboxes, containers }: Parts): ObservedPod {
  const labels = listed.sandboxes[0]?.labels ?? listed.containers[0]?.labels
  return {
    uid: listed.uid,
    name: labels?.[POD_NAME_LABEL] ?? known?.name ?? '',
    namespace: labels?.[POD_NAMESPACE_LABEL] ?? known?.namespace ?? '',
    sandboxes: sandboxes
      .filter((sandbox) => sandbox !== undefined)
      .sort((a, b) => b.attempt - a.attempt || b.createdAt - a.createdAt),
    containers: containers
      .filter((container) => container !== undefined)
      .sort((a, b) => b.createdAt - a.createdAt || b.restartCount - a.restartCount || (a.id < b.id ? -1 : 1)),
  }
}

function unlisted<T extends { readonly id: string }>(known: readonly T[], listed: readonly { readonly id: string }[]) {
  const ids = new Set(listed.map(({ id }) => id))
  return known.filter(({ id }) => !ids.has(id))
}

async function confirmSandbox(
  runtime: RuntimeView,
  before: ObservedSandbox,
  signal: AbortSignal,
): Promise<ObservedSandbox | undefined> {
  const reply = await unlessGone(runtime.podSandboxStatus({ podSandboxId: before.id }, signal))
  if (reply?.status === undefined) return undefined
  const now = toObservedSandbox(reply.status, before.isAdopted)
  return now.ready === before.ready ? before : now
}

async function confirmContainer(
  runtime: RuntimeView,
  before: ObservedContainer,
  pod: KnownPod,
  signal: AbortSignal,
): Promise<ObservedContainer | undefined> {
  const reply = await unlessGone(runtime.containerStatus({ containerId: before.id }, signal))
  if (reply?.status === undefined) return undefined
  if (hasListedState(before, reply.status.state)) return before
  const { status } = reply
  const listed = { labels: status.labels, podSandboxId: before.sandboxId }
  return toObservedContainer(listed, status, toSeen(status, before, pod))
}

/**
 * Since when a container has run, or has ended, by our own clock: that of the runtime may show another time. Only of what ran before this
 * agent there is no other time to go by.
 */
function toSeen(
  { startedAt }: ContainerStatus,
  before: ObservedContainer | undefined,
  { isAdopted, now, timeOfDay }: KnownPod,
): Pick<ObservedContainer, 'runsSince' | 'endSeenAt'> {
  const ranMs = isAdopted ? Math.max(0, timeOfDay - toMilliseconds(startedAt)) : 0
  return {
    runsSince: before?.state === 'running' ? before.runsSince : now - ranMs,
    endSeenAt: before !== undefined && before.endSeenAt > 0 ? before.endSeenAt : now,
  }
}

/** As it was known, if it is listed in the same state. */
function findSandbox(known: ObservedPod | undefined, listed: PodSandbox): ObservedSandbox | undefined {
  const before = known?.sandboxes.find(({ id }) => id === listed.id)
  return before?.ready === isSandboxReady(listed) ? before : undefined
}

/** As it was known, if it is listed in the same state. */
function findContainer(known: ObservedPod | undefined, listed: Container): ObservedContainer | undefined {
  const before = known?.containers.find(({ id }) => id === listed.id)
  return before !== undefined && hasListedState(before, listed.state) ? before : undefined
}

async function readSandbox(
  runtime: RuntimeView,
  listed: PodSandbox,
  { known, isOutdated, isAdopted }: KnownPod,
  signal: AbortSignal,
): Promise<ObservedSandbox | undefined> {
  const before = findSandbox(known, listed)
  if (!isOutdated && before !== undefined) return before
  const reply = await unlessGone(runtime.podSandboxStatus({ podSandboxId: listed.id }, signal))
  if (reply?.status === undefined) return undefined
  const earlier = known?.sandboxes.find(({ id }) => id === listed.id)
  return toObservedSandbox(reply.status, earlier === undefined ? isAdopted : earlier.isAdopted)
}

async function readContainer(
  runtime: RuntimeView,
  listed: Container,
  pod: KnownPod,
  signal: AbortSignal,
): Promise<ObservedContainer | undefined> {
  const { known, isOutdated } = pod
  const before = findContainer(known, listed)
  if (!isOutdated && before !== undefined) return before
  const reply = await unlessGone(runtime.containerStatus({ containerId: listed.id }, signal))
  if (reply?.status === undefined) return undefined
  const earlier = known?.containers.find(({ id }) => id === listed.id)
  return toObservedContainer(listed, reply.status, toSeen(reply.status, earlier, pod))
}

/** What vanishes between the list and the question is simply not there. */
async function unlessGone<T>(reply: Promise<T>): Promise<T | undefined> {
  try {
    return await reply
  } catch (error) {
    if (error instanceof CriCallError && error.code === 'NotFound') return undefined
    throw error
  }
}
