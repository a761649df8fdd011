import { InjectionsError } from '../../../model/pod/injections-error.ts'
import type { ObservedPod } from '../../../model/pod/observed-pod.ts'
import type { PodHistory } from '../pod-history.ts'
import type { PodRuntime } from '../pod-runtime.ts'

const RETRY_MS = 10_000

/** Gives back what a pod had besides its volumes, now that nothing of it runs. Undefined when nothing is left, else when to try again. */
export async function releaseInjections(
  { injections, noteStep, log }: PodRuntime,
  { uid, namespace, name, history }: Pick<ObservedPod, 'uid' | 'namespace' | 'name'> & { readonly history: PodHistory },
  shutdown: AbortSignal,
): Promise<number | undefined> {
  try {
    await injections.release({ uid, noteStep }, shutdown)
    history.problem = undefined
    return undefined
  } catch (error) {
    if (!(error instanceof InjectionsError)) throw error
    const problem = `Waits until its devices are given back: ${error.message}`
    if (problem !== history.problem)
      log.warn('cannot give back the devices of a pod, will try again', { pod: `${namespace}/${name}`, uid, error })
    history.problem = problem
    return RETRY_MS
  }
}
