import { InjectionsError } from '../../../model/pod/injections-error.ts'
import type { ObservedPod } from '../../../model/pod/observed-pod.ts'
import type { PodHistory } from '../pod-history.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import type { NoteStep } from '../../../base/telemetry/note-step.ts'
import type { PodInjections } from '../start/pod-injections.ts'

export interface ReleaseInjectionsDeps {
  readonly injections: Pick<PodInjections, 'release'>
  readonly noteStep: NoteStep
  readonly log: Logger
}

const RETRY_MS = 10_000

/** Gives back what a pod had besides its volumes, now that nothing of it runs. Undefined when nothing is left, else when to try again. */
export async function releaseInjections(
  { injections, noteStep, log }: ReleaseInjectionsDeps,
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
