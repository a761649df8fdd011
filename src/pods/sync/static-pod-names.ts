import { isStaticPod, podFullName } from '../../model/pod/pod.ts'
import type { PodWorker } from './pod-worker.ts'

/** Has a static pod of this name not ended yet? */
export function isNameTaken(workers: Iterable<PodWorker>, name: string): boolean {
  return staticPodsOf(workers, name).some(({ state }) => state.kind !== 'terminated')
}

/** The first that waits for the name, once it is free. */
export function nextForName(workers: Iterable<PodWorker>, name: string): PodWorker | undefined {
  const sharing = staticPodsOf(workers, name)
  if (sharing.some(({ state }) => state.kind === 'syncing' || state.kind === 'terminating')) return undefined
  return sharing.find(({ state }) => state.kind === 'waiting')
}

function staticPodsOf(workers: Iterable<PodWorker>, name: string): PodWorker[] {
  return [...workers].filter(({ pod }) => pod !== undefined && isStaticPod(pod) && podFullName(pod) === name)
}
