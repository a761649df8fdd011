import { CriCallError } from '../../protocols/cri/cri-call-error.ts'
import type { CriCalls } from '../../protocols/cri/cri-calls.ts'
import type { Container, PodSandbox } from '../../protocols/cri/generated/runtime-v1.ts'
import type { ObservedContainer, ObservedPod, ObservedSandbox } from '../../model/pod/observed-pod.ts'
import type { PodUid } from '../../model/pod/pod.ts'
import {
  hasListedState,
  isReady,
  POD_NAME_LABEL,
  POD_NAMESPACE_LABEL,
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
  /** Undefined when all of it has to be read again. */
  readonly known: ObservedPod | undefined
  /** Also then it is known which containers had ended. */
  readonly ends: ObservedPod | undefined
  /** On the monotonic clock. */
  readonly now: number
}

/**
 * Completes what the lists say of a pod. Only parts whose state changed since the last read are asked for: the rest of what a status
 * holds does not change while the state stays.
 */
export async function readPod(
  runtime: RuntimeView,
  listed: ListedPod,
  before: KnownPod,
  signal: AbortSignal,
): Promise<ObservedPod> {
  const { known } = before
  const [sandboxes, containers] = await Promise.all([
    Promise.all(listed.sandboxes.map((sandbox) => readSandbox(runtime, sandbox, known, signal))),
    Promise.all(listed.containers.map((container) => readContainer(runtime, container, before, signal))),
  ])
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

async function readSandbox(
  runtime: RuntimeView,
  listed: PodSandbox,
  known: ObservedPod | undefined,
  signal: AbortSignal,
): Promise<ObservedSandbox | undefined> {
  const before = known?.sandboxes.find(({ id }) => id === listed.id)
  if (before !== undefined && before.ready === isReady(listed)) return before
  const reply = await unlessGone(runtime.podSandboxStatus({ podSandboxId: listed.id }, signal))
  return reply?.status === undefined ? undefined : toObservedSandbox(reply.status)
}

async function readContainer(
  runtime: RuntimeView,
  listed: Container,
  { known, ends, now }: KnownPod,
  signal: AbortSignal,
): Promise<ObservedContainer | undefined> {
  const before = known?.containers.find(({ id }) => id === listed.id)
  if (before !== undefined && hasListedState(before, listed.state)) return before
  const reply = await unlessGone(runtime.containerStatus({ containerId: listed.id }, signal))
  const endSeenAt = ends?.containers.find(({ id }) => id === listed.id)?.endSeenAt ?? 0
  return reply?.status === undefined
    ? undefined
    : toObservedContainer(listed, reply.status, endSeenAt > 0 ? endSeenAt : now)
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
