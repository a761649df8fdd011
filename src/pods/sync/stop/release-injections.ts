import { InjectionsError } from '../../../model/pod/injections-error.ts'
import type { ObservedPod } from '../../../model/pod/observed-pod.ts'
import type { PodMemory } from '../pod-memory.ts'
import type { PodRuntime } from '../pod-runtime.ts'

const RETRY_MS = 10_000

/** Gives back what a pod had besides its volumes, now that nothing of it runs. Undefined when nothing is left, else when to try again. */
export async function releaseInjections(
  { injections, noteStep, log }: PodRuntime,
  { uid, namespace, name, memory }: Pick<ObservedPod, 'uid' | 'namespace' | 'name'> & { readonly memory: PodMemory },
  shutdown: AbortSignal,
): Promise<number | undefined> {
  try {
    await injections.release({ uid, noteStep }, shutdown)
    memory.problem = undefined
    return undefined
  } catch (error) {
    if (!(error instanceof InjectionsError)) throw error
    const problem = `Waits until its devices are given back: ${error.message}`
    if (problem !== memory.problem)
      log.warn('cannot give back the devices of a pod, will try again', { pod: `${namespace}/${name}`, uid, error })
    memory.problem = problem
    return RETRY_MS
  }
}
