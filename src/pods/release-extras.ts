import { ExtrasError } from '../model/extras-error.ts'
import type { ObservedPod } from '../model/observed-pod.ts'
import type { PodRuntime } from './pod-runtime.ts'

const RETRY_MS = 1000

/** Gives back what a pod had besides its volumes, now that nothing of it runs. Undefined when nothing is left, else when to try again. */
export async function releaseExtras(
  { extras, noteStep, log }: PodRuntime,
  { uid, namespace, name }: Pick<ObservedPod, 'uid' | 'namespace' | 'name'>,
  shutdown: AbortSignal,
): Promise<number | undefined> {
  try {
    await extras.release({ uid, noteStep }, shutdown)
    return undefined
  } catch (error) {
    if (!(error instanceof ExtrasError)) throw error
    log.warn('cannot give back the devices of a pod, will try again', { pod: `${namespace}/${name}`, uid, error })
    return RETRY_MS
  }
}
