import type { LabelSelector } from '../../generated/core-v1.ts'
import { matchesRequirement } from './matches-requirement.ts'

/** True when the labels have all that is asked for. No selector fits nothing; one that asks for nothing fits everything. */
export function matchesLabelSelector(
  selector: LabelSelector | undefined,
  labels: Readonly<Record<string, string>>,
): boolean {
  if (selector === undefined) return false
  const own = new Map(Object.entries(labels))
  const { matchLabels = {}, matchExpressions = [] } = selector
  return (
    Object.entries(matchLabels).every(([key, value]) => own.get(key) === value) &&
    matchExpressions.every((requirement) => matchesRequirement(requirement, own))
  )
}
