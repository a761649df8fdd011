import type { ContainerStatus, PodStatus } from '../../../model/generated/core-v1.ts'
import type { PodState } from '../pod-state.ts'
import { describeCrashes, describeTermination, isRecent } from './describe-crashes.ts'
import type { TimelineStep } from './timeline-step.ts'

export interface WhyInput {
  readonly state: PodState
  readonly status: PodStatus | undefined
  readonly steps: readonly TimelineStep[]
  /** In words. */
  readonly failingProbes: readonly string[]
  readonly networkProblem: string | undefined
  /** Why the last pass failed. */
  readonly problem: string | undefined
  /** When the worker checks again by itself; undefined: only when something happens. */
  readonly nextCheckAt: number | undefined
  readonly now: number
}

/** What a container waits for before the init containers have ended. */
const INITIALIZING = 'PodInitializing'

/** How the message of a pod begins that was not let in. */
const REJECTED = 'Pod was rejected: '

/** The one sentence about a pod: what it is at, since when, and what would change that. */
export function computeWhy(input: WhyInput): string {
  const { state, status } = input
  const open = openStep(input)
  switch (state.kind) {
    case 'waiting':
      return 'Waits for an older pod of the same name to end'
    case 'terminating':
      return [`Is being ended (${state.cause})`, open ?? input.problem ?? []].flat().join(': ')
    case 'terminated':
      return [describeEnd(status), ...(open === undefined ? [] : [open])].join('; ')
    case 'gone':
      return 'Is gone'
    case 'syncing':
      return [describeLife(input, open), ...describeResize(status)].join('; ')
  }
}

function openStep({ steps, now }: WhyInput): string | undefined {
  const step = steps.findLast(({ ms }) => ms === undefined)
  return step === undefined ? undefined : `${step.name}, for ${seconds(now - step.startedAt)}`
}

/** What a pod ended with, and which containers failed; of one that never began, why not. */
function describeEnd(status: PodStatus | undefined): string {
  if (status?.message?.startsWith(REJECTED) === true) return `${status.message} (${status.reason})`
  const reason = status?.reason === undefined ? '' : ` (${[status.reason, status.message ?? []].flat().join(': ')})`
  // One that was removed while it ran has no result, and none is needed any more.
  const isTerminal = status?.phase === 'Succeeded' || status?.phase === 'Failed'
  const end = isTerminal ? `Has ended: ${status.phase}${reason}` : 'Has ended; what is left of it goes in a moment'
  return [end, ...containersOf(status).flatMap(describeExit)].join('; ')
}

function describeExit({ name, state }: ContainerStatus): readonly string[] {
  const { terminated } = state ?? {}
  return (terminated?.exitCode ?? 0) === 0 || terminated === undefined
    ? []
    : [`container "${name}" ${describeTermination(terminated)}`]
}

/** What is being done now, and why it was in vain before. */
function describeLife(input: WhyInput, open: string | undefined): string {
  if (open === undefined) return describeRest(input)
  return input.problem === undefined ? open : `${open}; before: ${input.problem}`
}

function describeResize(status: PodStatus | undefined): readonly string[] {
  const said = (name: string) =>
    status?.conditions?.find(({ type, status: value }) => type === name && value === 'True')
  const [pending, inProgress] = [said('PodResizePending'), said('PodResizeInProgress')]
  return [
    ...(pending === undefined ? [] : [`resize is pending (${pending.reason}): ${pending.message}`]),
    ...(inProgress?.reason === undefined ? [] : [`resize fails and is tried again: ${inProgress.message}`]),
  ]
}

function containersOf(status: PodStatus | undefined): readonly ContainerStatus[] {
  return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
}

/** The container that all others wait for, if one of those that run before them does. One that runs beside them is ready while it runs. */
function runningInit(status: PodStatus | undefined): ContainerStatus | undefined {
  const isHeld = status?.containerStatuses?.some(({ state }) => state?.waiting?.reason === INITIALIZING) === true
  if (!isHeld) return undefined
  return status.initContainerStatuses?.findLast(({ state, ready }) => state?.running !== undefined && !ready)
}

function describeRun({ state }: ContainerStatus, now: number): string {
  const startedAt = Date.parse(state?.running?.startedAt ?? '')
  return Number.isNaN(startedAt) ? '' : `, which runs for ${seconds(now - startedAt)}`
}

/** Nothing is being done: either all is well, or it waits for something. */
function describeRest({ status, steps, failingProbes, networkProblem, problem, nextCheckAt, now }: WhyInput): string {
  if (networkProblem !== undefined) return `Waits for the network: ${networkProblem}`
  const next = nextCheckAt === undefined ? '' : `; next check in ${seconds(nextCheckAt - now)}`
  if (problem !== undefined) return `${problem}${next}`
  const init = runningInit(status)
  const describeWaiting = (container: ContainerStatus) => {
    const { reason, message } = container.state?.waiting ?? {}
    if (reason === undefined || (init !== undefined && reason === INITIALIZING)) return []
    const crashes = describeCrashes(container, steps, now)
    return [[`container "${container.name}" ${reason}`, message ?? [], crashes].flat().join(': ')]
  }
  const waiting = containersOf(status).flatMap(describeWaiting)
  if (waiting.length > 0) return `Waits: ${waiting.join('; ')}${next}`
  if (init !== undefined) return `Waits for the end of init container "${init.name}"${describeRun(init, now)}`
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  const crashes = containersOf(status).flatMap((container) => {
    const recent = isRecent(container, now) ? describeCrashes(container, steps, now) : []
    return recent.map((text) => `container "${container.name}" ${text}`)
  })
  const runs = crashes.length === 0 ? 'Runs and is ready' : `Runs again: ${crashes.join('; ')}`
  if (ready?.status === 'True') return [runs, ...failingProbes].join('; ')
  const hasFailing = failingProbes.length > 0
  const reasons = [...(hasFailing ? failingProbes : [ready?.message ?? []].flat()), ...crashes]
  const why = reasons.length === 0 ? '' : `: ${reasons.join('; ')}`
  // Probes have periods of their own, and do not wait for the next check.
  return `${status?.phase ?? 'Pending'}, not ready${why}${hasFailing ? '' : next}`
}

function seconds(ms: number): string {
  return `${(Math.max(0, ms) / 1000).toFixed(1)} s`
}
