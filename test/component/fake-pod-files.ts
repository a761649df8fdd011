import type { PodDeps } from '../../src/pods/sync/pod-worker.ts'
import { InMemoryPodFiles } from '../../src/simulation/machine/in-memory-pod-files.ts'

/** The files of pods in memory, with faults that a test plans. */
export class FakePodFiles extends InMemoryPodFiles {
  isReadOnly = false
  /** What the next calls of a method fail with. */
  readonly failures = new Map<keyof PodDeps['files'], Error>()

  protected override check(method: keyof PodDeps['files']): void {
    const failure = this.failures.get(method)
    if (failure !== undefined) throw failure
  }
}
