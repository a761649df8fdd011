import type { ChosenDifference } from '../api-server/chosen-differences.ts'

/** Where our controllers do something else than the real ones, and why. docs/differences.md says it in words. */
export const chosenBehaviour: readonly ChosenDifference[] = [
  {
    at: /^refused\.(events\.\d+|replicasets\.0\.status\.conditions\.0\.message)$/,
    why: 'the name of a pod is made before its admission, so that the refusal has all of it',
    cases: ['ReplicaSet: pods that the API does not take'],
  },
]
