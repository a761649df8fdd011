import { parseQuantity } from '../../resources/quantity.ts'
import { attempt } from '../kinds/scalar-kinds.ts'
import { parseGoDuration } from '../values/go-duration.ts'
import { EVICTION_SIGNALS } from '../values/eviction-signals.ts'

/** The hard thresholds of a node whose --config file has none. */
export const DEFAULT_EVICTION_HARD: Readonly<Record<string, string>> = {
  'memory.available': '100Mi',
  'nodefs.available': '10%',
  'nodefs.inodesFree': '5%',
  'imagefs.available': '15%',
  'imagefs.inodesFree': '5%',
}

function parsePercent(value: string): number | undefined {
  return /^\d{1,3}(?:\.\d+)?%$/.test(value) ? Number(value.slice(0, -1)) : undefined
}

function findSignalProblem(signal: string): string | undefined {
  return (EVICTION_SIGNALS as readonly string[]).includes(signal)
    ? undefined
    : `expected one of the signals ${EVICTION_SIGNALS.join(', ')}`
}

/** A threshold: a quantity above zero, or 0% to 100%. */
export function findThresholdProblem(signal: string, value: string): string | undefined {
  const percent = parsePercent(value)
  const holds =
    percent === undefined ? (attempt(() => parseQuantity(value))?.nanos ?? 0n) > 0n : percent >= 0 && percent <= 100
  return findSignalProblem(signal) ?? (holds ? undefined : 'expected a quantity above 0 or 0% to 100%')
}

/** How long a soft threshold must hold. */
export function findGracePeriodProblem(signal: string, value: string): string | undefined {
  const period = attempt(() => parseGoDuration(value))
  const holds = period !== undefined && period >= 0
  return findSignalProblem(signal) ?? (holds ? undefined : 'expected a duration of 0s or more')
}

/** How much an eviction must win back at least. */
export function findReclaimProblem(signal: string, value: string): string | undefined {
  const percent = parsePercent(value)
  const holds =
    percent === undefined ? (attempt(() => parseQuantity(value))?.nanos ?? -1n) >= 0n : percent > 0 && percent <= 100
  return findSignalProblem(signal) ?? (holds ? undefined : 'expected a quantity of 0 or more, or a percentage above 0%')
}
