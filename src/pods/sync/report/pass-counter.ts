import type { Clock } from '../../../base/async/clock.ts'
import type { Tracer } from '../../../base/telemetry/tracer.ts'
import type { PodStartMetrics } from '../../../metrics/pod-start-metrics.ts'
import { CONFIG_SEEN_ANNOTATION } from '../../../model/pod/pod.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import type { PodIdentity } from '../pod-life.ts'
import type { PodState } from '../pod-state.ts'

export interface PassCounterDeps {
  readonly metrics: Pick<PodStartMetrics, 'podWorkerPass' | 'podWorkerStart'>
  readonly clock: Clock
}

/** As the Go kubelet calls these steps in its traces. */
const SPANS = { syncing: 'syncPod', terminating: 'syncTerminatingPod', terminated: 'syncTerminatedPod' } as const

/** Times the passes of one worker, by what they are for. */
export class PassCounter {
  #hasBegun = false
  #isUpdated = false

  /** The desired pod has changed: the next pass is for that. */
  updated(): void {
    this.#isUpdated = true
  }

  async count<T>(
    { clock, metrics }: PassCounterDeps,
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

/** Shows a pass as a span of its own in the traces. */
export function tracePass<T>(
  tracer: Tracer,
  { identity, state }: { readonly identity: PodIdentity; readonly state: PodState['kind'] },
  pass: () => Promise<T>,
): Promise<T> {
  if (state === 'waiting' || state === 'gone') return pass()
  const { namespace, name, uid } = identity
  const attributes = {
    'k8s.pod.uid': uid,
    'k8s.pod': `${namespace}/${name}`,
    'k8s.pod.name': name,
    'k8s.namespace.name': namespace,
  }
  return tracer.span(SPANS[state], { attributes }, pass)
}
