import type { Pod } from '../../../model/generated/core-v1.ts'
import { useAnswer } from '../hooks.ts'
import { findController } from './find-controller.ts'
import type { PodController, Owned } from './find-controller.ts'

/** What a person changes to have other pods: the Deployment rather than its ReplicaSet. Undefined while that is not known. */
export function useController(pod: Pod): PodController | undefined {
  const first = findController(pod)
  const isMiddle = first?.kind === 'ReplicaSet'
  const middle = useAnswer<Owned>(isMiddle ? first.path : undefined, undefined)
  if (!isMiddle) return first
  if (middle.value === undefined) return middle.error === undefined ? undefined : first
  return findController(middle.value) ?? first
}
