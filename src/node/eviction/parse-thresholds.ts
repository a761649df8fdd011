import { parseGoDuration } from '../../model/config/values/go-duration.ts'
import { parseQuantity } from '../../model/resources/quantity.ts'
import { isObservedSignal } from './observed-signal.ts'
import type { Threshold, ThresholdValue } from './threshold.ts'

/** The fields of the configuration; checked already. */
export interface ThresholdFields {
  readonly evictionHard: Readonly<Record<string, string>>
  readonly evictionSoft: Readonly<Record<string, string>>
  readonly evictionSoftGracePeriod: Readonly<Record<string, string>>
  readonly evictionMinimumReclaim: Readonly<Record<string, string>>
  readonly enforceNodeAllocatable: readonly string[]
}

export interface ParsedThresholds {
  readonly thresholds: readonly Threshold[]
  /** Signals that follow from others, whatever the configuration says of them. */
  readonly ignored: readonly string[]
}

/** The thresholds of a node; what all pods together may have is watched like the machine when it is enforced. */
export function parseThresholds(fields: ThresholdFields): ParsedThresholds {
  const { evictionHard, evictionSoft, evictionSoftGracePeriod } = fields
  const hard = Object.entries(evictionHard).flatMap(([signal, text]) =>
    toThreshold(fields, { signal, text, graceMs: 0 }),
  )
  const soft = Object.entries(evictionSoft).flatMap(([signal, text]) =>
    toThreshold(fields, { signal, text, graceMs: parseGoDuration(evictionSoftGracePeriod[signal] ?? '0s') }),
  )
  const ofPods = fields.enforceNodeAllocatable.includes('pods')
    ? hard
        .filter(({ signal }) => signal === 'memory.available')
        .map((threshold): Threshold => ({ ...threshold, signal: 'allocatableMemory.available' }))
    : []
  const named = new Set([...Object.keys(evictionHard), ...Object.keys(evictionSoft)])
  return {
    thresholds: [...hard, ...soft, ...ofPods],
    ignored: [...named].filter((signal) => !isObservedSignal(signal)),
  }
}

function toThreshold(
  { evictionMinimumReclaim }: ThresholdFields,
  { signal, text, graceMs }: { readonly signal: string; readonly text: string; readonly graceMs: number },
): readonly Threshold[] {
  const value = parseValue(text)
  if (!isObservedSignal(signal) || value === undefined) return []
  const reclaim = evictionMinimumReclaim[signal]
  return [{ signal, value, minReclaim: reclaim === undefined ? undefined : parseValue(reclaim), graceMs }]
}

/** 0% and 100% are no thresholds. Percentages are single precision in the Go kubelet, and show in the last digits of messages. */
function parseValue(text: string): ThresholdValue | undefined {
  if (!text.endsWith('%')) return { kind: 'amount', quantity: parseQuantity(text) }
  const percent = Number(text.slice(0, -1))
  if (percent === 0 || percent === 100) return undefined
  return { kind: 'share', share: Math.fround(Math.fround(percent) / 100) }
}
