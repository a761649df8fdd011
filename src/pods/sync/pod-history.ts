import type { Clock } from '../../base/async/clock.ts'
import { errorText } from '../../base/telemetry/error-text.ts'
import type { AbortScope } from '../../base/async/abort-scope.ts'
import type { PodStatus } from '../../model/generated/core-v1.ts'
import { EventRepeats } from '../../model/events/event-repeats.ts'
import type { Pod } from '../../model/pod/pod.ts'
import type { StatusInput, WaitingReason } from '../status/status-input.ts'
import { findContainer } from '../../model/pod/pod-containers.ts'
import { computeNextBackOff, crashBackOffKey } from './decide/compute-crash-back-off.ts'
import type { CrashBackOff } from './decide/compute-crash-back-off.ts'
import type { ContainerStart } from './decide/pod-actions.ts'
import type { SandboxWarning } from './start/create-sandbox.ts'
import type { Grace } from './stop/grace.ts'
import type { PodPass } from './pod-pass.ts'
import { PodStartup } from './report/pod-startup.ts'

/** What a worker remembers of its pod between passes. It ends with the worker. */
export interface PodHistory {
  /** By container name: why it does not run. */
  readonly waiting: Map<string, WaitingReason>
  /** By crashBackOffKey(). */
  readonly backOff: Map<string, CrashBackOff>
  /** The names of containers that this agent tried to start. */
  readonly tried: Set<string>
  /** By container id, for exited ones. */
  readonly terminationMessages: Map<string, string>
  /** By container name: of the last instance before the pod ended and came back, which is a restart for all who watch it. */
  readonly restartCounts: ReadonlyMap<string, number>
  /** Of all that is being stopped now. */
  readonly graces: Set<Grace>
  /** Which lasting troubles events have reported, by what they are about. */
  readonly reported: EventRepeats<string>
  /** What the sandbox could not be given as asked, as it was last described. */
  sandboxWarnings: readonly SandboxWarning[]
  /** Its cgroup was there in an earlier pass: were it gone while something runs, that would run without limits. */
  hasCgroup: boolean
  /** On the monotonic clock. */
  lastSandboxAt: number | undefined
  /** The runtime was changed and could not be observed since: what is known of the pod is older than what was done. */
  unsure: boolean
  /** The ids of sandboxes that the runtime has stopped for this agent, until they are removed. */
  readonly stoppedSandboxes: Set<string>
  /** How often in a row it still ran after the runtime had said that it was stopped. */
  failedStops: number
  /** The pass under way waits for volumes or devices and for nothing else: any news ends that wait. */
  wait: AbortScope | undefined
  /** Why the last pass failed, in words; undefined once one succeeded. */
  problem: string | undefined
  /** It was seen to run, or was here before this agent. */
  hasRun: boolean
  /** How long the start takes. */
  readonly startup: PodStartup
  /** The ids of dead containers that are too many on the node. */
  surplus: ReadonlySet<string>
  status: PodStatus | undefined
  /** Why the node took the pod away; undefined while it did not. */
  eviction: StatusInput['override']
}

export function createPodHistory(pod?: Pod, restartCounts: ReadonlyMap<string, number> = new Map()): PodHistory {
  return {
    waiting: new Map(),
    backOff: new Map(),
    tried: new Set(),
    terminationMessages: new Map(),
    restartCounts,
    graces: new Set(),
    reported: new EventRepeats(new Map()),
    sandboxWarnings: [],
    hasCgroup: false,
    lastSandboxAt: undefined,
    unsure: false,
    stoppedSandboxes: new Set(),
    failedStops: 0,
    wait: undefined,
    problem: undefined,
    hasRun: false,
    startup: new PodStartup(pod),
    surplus: new Set(),
    status: undefined,
    eviction: undefined,
  }
}

/** Is the failure of a pass to be logged? What goes on failing in the same way, often for many pods at once, is logged once a minute. */
export function isNewFailure(
  { reported }: Pick<PodHistory, 'reported'>,
  error: unknown,
  clock: Pick<Clock, 'monotonic'>,
): boolean {
  return reported.isDue('a failed pass', errorText(error), clock.monotonic())
}

/**
 * A start that follows an exit makes the next one wait longer. One that follows a start which was broken off does so only when this agent
 * has tried before: the end of an earlier agent is no fault of the container.
 */
export function rememberRestart(
  { pod, history, backOffLimits }: PodPass,
  { name, previousEndedAt, isBrokenOff }: ContainerStart,
  now: number,
): void {
  const isFirst = !history.tried.has(name)
  history.tried.add(name)
  if (previousEndedAt === undefined || (isBrokenOff === true && isFirst)) return
  const key = crashBackOffKey(findContainer(pod, name).container)
  const context = { limits: backOffLimits, now }
  history.backOff.set(key, computeNextBackOff(history.backOff.get(key), previousEndedAt, context))
}

/** Of the containers of which there were instances. */
export function restartCountsOf(status: PodStatus | undefined): ReadonlyMap<string, number> {
  const statuses = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
  const made = statuses.filter(({ containerID = '' }) => containerID !== '')
  return new Map(made.map(({ name, restartCount }) => [name, restartCount]))
}
