import type { PodDeps } from '../../src/pods/sync/pod-worker.ts'
import { MemoryPodFiles } from '../../src/simulation/machine/memory-pod-files.ts'

/** The files of pods in memory, with faults that a test plans. */
export class FakePodFiles extends MemoryPodFiles {
  isReadOnly = false
  /** What the next calls of a method fail with. */
  readonly failures = new Map<keyof PodDeps['files'], Error>()

  protected override check(method: keyof PodDeps['files']): void {
    const failure = this.failures.get(method)
    if (failure !== undefined) throw failure
  }
}
