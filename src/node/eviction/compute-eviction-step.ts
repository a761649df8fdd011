import type { NodePressures } from '../../model/resources/fit/node-pressures.ts'
import { quantityValue } from '../../model/resources/quantity.ts'
import type { Quantity } from '../../model/resources/quantity.ts'
import { toQuantity } from './compute-observations.ts'
import type { Observation, Observations } from './compute-observations.ts'
import { OBSERVED_SIGNALS } from './observed-signal.ts'
import type { PressureKind } from './observed-signal.ts'
import type { Threshold, ThresholdValue } from './threshold.ts'

/** What is remembered from one check to the next. Times are those of a clock that only grows. */
export interface EvictionState {
  readonly metSince: ReadonlyMap<Threshold, number>
  /** Thresholds that called for an eviction: they end only when enough was reclaimed. */
  readonly due: readonly Threshold[]
  readonly lastSeen: ReadonlyMap<PressureKind, number>
}

export const QUIET: EvictionState = { metSince: new Map(), due: [], lastSeen: new Map() }

export interface EvictionObservation {
  readonly thresholds: readonly Threshold[]
  readonly observations: Observations
  /** How long the node reports a pressure after it was last observed. */
  readonly transitionMs: number
  readonly now: number
}

/** What a check changes: what the node is short of, and what pods have to be evicted for, the most important first. */
export function computeEvictionStep(
  before: EvictionState,
  { thresholds, observations, transitionMs, now }: EvictionObservation,
): { readonly state: EvictionState; readonly pressures: NodePressures } {
  const met = new Set([
    ...computeMet(thresholds, observations, { withReclaim: false }),
    ...computeMet(before.due, observations, { withReclaim: true }),
  ])
  const metSince = new Map([...met].map((threshold) => [threshold, before.metSince.get(threshold) ?? now]))
  const due = [...met].filter((threshold) => now - (metSince.get(threshold) ?? now) >= threshold.graceMs)
  const seen = new Set([...met].map(({ signal }) => OBSERVED_SIGNALS[signal].pressure))
  const lastSeen = new Map([...before.lastSeen, ...[...seen].map((kind) => [kind, now] as const)])
  const has = (kind: PressureKind) => {
    const at = lastSeen.get(kind)
    return seen.has(kind) || (at !== undefined && now - at < transitionMs)
  }
  return {
    state: { metSince, due: due.toSorted((a, b) => rank(a) - rank(b)), lastSeen },
    pressures: { memory: has('memory'), disk: has('disk'), pid: has('pid') },
  }
}

/** The thresholds that are met; after an eviction they stay met until the minimum reclaim is reached. */
export function computeMet(
  thresholds: readonly Threshold[],
  observations: Observations,
  { withReclaim }: { readonly withReclaim: boolean },
): readonly Threshold[] {
  return thresholds.filter((threshold) => {
    const observation = observations.get(threshold.signal)
    return observation !== undefined && missingNanos(threshold, observation, withReclaim) > 0n
  })
}

/** How much has to be reclaimed, in the unit of the signal, until no eviction is needed; 0 when there is enough. */
export function computeMissing(threshold: Threshold, observations: Observations): number {
  const observation = observations.get(threshold.signal)
  const nanos = observation === undefined ? 0n : missingNanos(threshold, observation, true)
  return nanos > 0n ? Number(quantityValue({ nanos, format: 'BinarySI' })) : 0
}

function missingNanos({ value, minReclaim }: Threshold, observation: Observation, withReclaim: boolean): bigint {
  const more = withReclaim && minReclaim !== undefined ? computeLeast(minReclaim, observation).nanos : 0n
  return computeLeast(value, observation).nanos + more - observation.available.nanos
}

/** A threshold in the units of what is observed. */
export function computeLeast(value: ThresholdValue, { capacity }: Pick<Observation, 'capacity'>): Quantity {
  if (value.kind === 'amount') return value.quantity
  return toQuantity(Number(quantityValue(capacity)) * value.share, 'BinarySI')
}

function rank({ signal }: Threshold): number {
  return OBSERVED_SIGNALS[signal].resource === 'memory' ? 0 : 1
}
