import { CONFIG_SEEN_ANNOTATION } from '../../model/pod/pod.ts'
import type { Pod } from '../../model/pod/pod.ts'
import type { PodRuntime } from './pod-runtime.ts'
import type { PodState } from './pod-state.ts'

/** Times the passes of one worker, by what they are for. */
export class PassCounter {
  #hasBegun = false
  #isUpdated = false

  /** The wish is another one: the next pass is for that. */
  updated(): void {
    this.#isUpdated = true
  }

  async count<T>(
    { clock, metrics }: Pick<PodRuntime, 'clock' | 'metrics'>,
    { pod, state }: { readonly pod: Pod | undefined; readonly state: PodState['kind'] },
    pass: () => Promise<T>,
  ): Promise<T> {
    if (state === 'waiting' || state === 'gone') return await pass()
    const operation = state === 'terminating' ? 'kill' : state === 'terminated' ? 'terminated' : this.#syncOperation()
    const seenAt = Date.parse(pod?.metadata.annotations?.[CONFIG_SEEN_ANNOTATION] ?? '')
    if (operation === 'create' && Number.isFinite(seenAt)) metrics.podWorkerStart((clock.now() - seenAt) / 1000)
    const startedAt = clock.monotonic()
    try {
      return await pass()
    } finally {
      metrics.podWorkerPass(operation, (clock.monotonic() - startedAt) / 1000)
    }
  }

  #syncOperation(): 'create' | 'update' | 'sync' {
    const operation = !this.#hasBegun ? 'create' : this.#isUpdated ? 'update' : 'sync'
    this.#hasBegun = true
    this.#isUpdated = false
    return operation
  }
}
