import type { PodStatus } from '../model/generated/core-v1.ts'
import type { PodState } from './pod-state.ts'
import type { TimelineStep } from './timeline-step.ts'

export interface WhyInput {
  readonly state: PodState
  readonly status: PodStatus | undefined
  readonly steps: readonly TimelineStep[]
  /** In words. */
  readonly failingProbes: readonly string[]
  readonly networkProblem: string | undefined
  /** When the worker looks again by itself; undefined: only when something happens. */
  readonly nextLookAt: number | undefined
  readonly now: number
}

/** The one sentence about a pod: what it is at, since when, and what would change that. */
export function computeWhy(input: WhyInput): string {
  const { state, status } = input
  const open = openStep(input)
  switch (state.kind) {
    case 'waiting':
      return 'Waits for an older pod of the same name to end'
    case 'terminating':
      return `Is being ended (${state.cause})${open === undefined ? '' : `: ${open}`}`
    case 'terminated':
      return `Has ended: ${status?.phase ?? 'unknown'}${status?.reason === undefined ? '' : ` (${status.reason}: ${status.message ?? ''})`}${open === undefined ? '' : `; ${open}`}`
    case 'gone':
      return 'Is gone'
    case 'syncing':
      return open ?? describeRest(input)
  }
}

function openStep({ steps, now }: WhyInput): string | undefined {
  const step = steps.findLast(({ ms }) => ms === undefined)
  return step === undefined ? undefined : `${step.name}, for ${seconds(now - step.startedAt)}`
}

/** Nothing is being done: either all is well, or it waits for something. */
function describeRest({ status, failingProbes, networkProblem, nextLookAt, now }: WhyInput): string {
  if (networkProblem !== undefined) return `Waits for the network: ${networkProblem}`
  const next = nextLookAt === undefined ? '' : `; next look in ${seconds(nextLookAt - now)}`
  const waiting = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].flatMap(
    ({ name, state }) => {
      const { reason, message } = state?.waiting ?? {}
      return reason === undefined ? [] : [`container "${name}" ${reason}${message === undefined ? '' : `: ${message}`}`]
    },
  )
  if (waiting.length > 0) return `Waits: ${waiting.join('; ')}${next}`
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  if (ready?.status === 'True') return ['Runs and is ready', ...failingProbes].join('; ')
  const reasons = failingProbes.length > 0 ? failingProbes : [ready?.message ?? []].flat()
  return `${status?.phase ?? 'Pending'}, not ready${reasons.length === 0 ? '' : `: ${reasons.join('; ')}`}${next}`
}

function seconds(ms: number): string {
  return `${(Math.max(0, ms) / 1000).toFixed(1)} s`
}
