import type { ObservedPod } from '../../model/pod/observed-pod.ts'

/** The sandboxes and containers of a pod. */
export function* partIds(pod: ObservedPod | undefined): Generator<string> {
  for (const { id } of pod?.sandboxes ?? []) yield id
  for (const { id } of pod?.containers ?? []) yield id
}
