import { isStaticPod, podFullName } from '../../model/pod/pod.ts'
import type { PodWorker } from './pod-worker.ts'

/** Has a static pod of this name not ended yet? */
export function isNameTaken(workers: Iterable<PodWorker>, name: string): boolean {
  return staticPodsOf(workers, name).some(({ state }) => state.kind !== 'terminated')
}

/** A static pod of this name has ended: the first that waits for the name gets it. */
export function releaseName(workers: Iterable<PodWorker>, name: string): void {
  const sharing = staticPodsOf(workers, name)
  if (sharing.some(({ state }) => state.kind === 'syncing' || state.kind === 'terminating')) return
  sharing.find(({ state }) => state.kind === 'waiting')?.release()
}

function staticPodsOf(workers: Iterable<PodWorker>, name: string): PodWorker[] {
  return [...workers].filter(({ pod }) => pod !== undefined && isStaticPod(pod) && podFullName(pod) === name)
}
