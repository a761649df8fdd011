import type {
  HorizontalPodAutoscalerSpec,
  HPAScalingPolicy,
  HPAScalingRules,
} from '../../../model/generated/api-groups.ts'

/** A number of replicas, and when it was computed or by how much the target was changed; in the time of clock.monotonic(). */
interface Entry {
  readonly replicas: number
  readonly at: number
}

/** What an autoscaler has to remember; it is not kept over a restart. */
export interface ScalingHistory {
  /** What the metrics asked for, before anything was limited. */
  readonly recommendations: readonly Entry[]
  readonly added: readonly Entry[]
  readonly removed: readonly Entry[]
}

interface Verdict {
  readonly reason: string
  readonly message: string
}

export interface AllowedReplicas {
  readonly replicas: number
  /** Of the condition AbleToScale. */
  readonly able: Verdict
  /** Of the condition ScalingLimited, which holds when the number is not what was asked for. */
  readonly limited: Verdict & { readonly isLimited: boolean }
  readonly history: ScalingHistory
}

export interface AllowedInput {
  readonly spec: HorizontalPodAutoscalerSpec
  readonly current: number
  /** What the metrics ask for. */
  readonly proposed: number
  readonly history: ScalingHistory
  readonly at: number
}

const DOWN_WINDOW_SECONDS = 300
// The longest that a window, and a period of a policy, can be.
const LONGEST_WINDOW_MS = 3_600_000
const LONGEST_PERIOD_MS = 1_800_000
const LARGEST = 2 ** 31 - 1

const READY: Verdict = { reason: 'ReadyForNewScale', message: 'recommended size matches current size' }
const STABLE_UP: Verdict = {
  reason: 'ScaleUpStabilized',
  message: 'recent recommendations were lower than current one, applying the lowest recent recommendation',
}
const STABLE_DOWN: Verdict = {
  reason: 'ScaleDownStabilized',
  message: 'recent recommendations were higher than current one, applying the highest recent recommendation',
}
const IN_RANGE: Verdict = {
  reason: 'DesiredWithinRange',
  message: 'the desired count is within the acceptable range',
}
const TOO_MANY: Verdict = {
  reason: 'TooManyReplicas',
  message: 'the desired replica count is more than the maximum replica count',
}
const TOO_FEW: Verdict = {
  reason: 'TooFewReplicas',
  message: 'the desired replica count is less than the minimum replica count',
}
const TOO_FAST_UP: Verdict = {
  reason: 'ScaleUpLimit',
  message: 'the desired replica count is increasing faster than the maximum scale rate',
}
const TOO_FAST_DOWN: Verdict = {
  reason: 'ScaleDownLimit',
  message: 'the desired replica count is decreasing faster than the maximum scale rate',
}

/** What may be done of what the metrics ask for: recent recommendations, the rate of change and the bounds limit it. */
export function computeAllowedReplicas(input: AllowedInput): AllowedReplicas {
  const { spec, current, proposed, history, at } = input
  const { behavior, minReplicas = 1, maxReplicas } = spec
  const stable =
    behavior === undefined
      ? Math.max(proposed, ...recent(history.recommendations, DOWN_WINDOW_SECONDS, at))
      : stabilize(input, behavior.scaleUp ?? {}, behavior.scaleDown ?? {})
  const isDown = behavior === undefined || proposed < current
  const able = stable === proposed ? READY : isDown ? STABLE_DOWN : STABLE_UP
  const fastestUp =
    behavior === undefined ? Math.max(2 * current, 4) : Math.max(current, limitOf(behavior.scaleUp ?? {}, input, 1))
  const fastestDown = behavior === undefined ? 0 : Math.min(current, limitOf(behavior.scaleDown ?? {}, input, -1))
  const most = Math.min(maxReplicas, fastestUp)
  const least = Math.max(minReplicas, fastestDown)
  const [replicas, limit] =
    stable < least
      ? [least, fastestDown > minReplicas ? TOO_FAST_DOWN : TOO_FEW]
      : stable > most
        ? [most, maxReplicas > fastestUp ? TOO_FAST_UP : TOO_MANY]
        : [stable, IN_RANGE]
  const recommendations = [...history.recommendations, { replicas: proposed, at }]
  return {
    replicas,
    able,
    limited: { ...limit, isLimited: replicas !== stable },
    history: { ...history, recommendations: recommendations.filter((entry) => entry.at > at - LONGEST_WINDOW_MS) },
  }
}

/** The history after the target was scaled; earlier changes that count for no policy any more are forgotten. */
export function withScaling(history: ScalingHistory, from: number, to: number, at: number): ScalingHistory {
  const isKept = (entry: Entry) => entry.at > at - LONGEST_PERIOD_MS
  const side = to > from ? 'added' : 'removed'
  return { ...history, [side]: [...history[side].filter(isKept), { replicas: Math.abs(to - from), at }] }
}

/** Not more than was recommended over the window for growing at least, not fewer than over the one for shrinking at most. */
function stabilize(
  { current, proposed, history, at }: AllowedInput,
  { stabilizationWindowSeconds: upSeconds = 0 }: HPAScalingRules,
  { stabilizationWindowSeconds: downSeconds = DOWN_WINDOW_SECONDS }: HPAScalingRules,
): number {
  const up = Math.min(proposed, ...recent(history.recommendations, upSeconds, at))
  const down = Math.max(proposed, ...recent(history.recommendations, downSeconds, at))
  return Math.min(Math.max(current, up), down)
}

function recent(entries: readonly Entry[], seconds: number, at: number): readonly number[] {
  return entries.filter((entry) => entry.at > at - seconds * 1000).map(({ replicas }) => replicas)
}

/** How far the policies of one direction let the number go: the farthest of them, or the nearest. */
function limitOf(
  { selectPolicy = 'Max', policies = [] }: HPAScalingRules,
  input: AllowedInput,
  direction: 1 | -1,
): number {
  if (selectPolicy === 'Disabled') return input.current
  const limits = policies.map((policy) => limitOfPolicy(policy, input, direction))
  const isHighest = (selectPolicy === 'Min') === (direction === -1)
  return Math.min(LARGEST, isHighest ? Math.max(...limits) : Math.min(...limits))
}

function limitOfPolicy(
  { type, value, periodSeconds }: HPAScalingPolicy,
  { current, history, at }: AllowedInput,
  direction: 1 | -1,
): number {
  const total = (entries: readonly Entry[]) => recent(entries, periodSeconds, at).reduce((sum, each) => sum + each, 0)
  const start = current - total(history.added) + total(history.removed)
  if (type === 'Pods') return start + direction * value
  const part = start * (1 + (direction * value) / 100)
  return direction === 1 ? Math.ceil(part) : Math.trunc(part)
}
