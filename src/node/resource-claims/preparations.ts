import { AbortScope } from '../../base/async/abort-scope.ts'
import type { TaskGroup } from '../../base/async/task-group.ts'
import { waitForShared } from '../../base/async/wait-for-shared.ts'
import type { PodUid } from '../../model/pod/pod.ts'

interface Preparation {
  readonly done: Promise<void>
  readonly giveUp: AbortController
}

/** Preparations under way, one for each pod: a caller that stops waiting does not stop it, and one that comes back waits for the same. */
export class Preparations {
  readonly #tasks: Pick<TaskGroup, 'run'>
  readonly #underWay = new Map<PodUid, Preparation>()

  constructor(tasks: Pick<TaskGroup, 'run'>) {
    this.#tasks = tasks
  }

  async join(uid: PodUid, work: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
    const { done } = this.#underWay.get(uid) ?? this.#begin(uid, work)
    await waitForShared(done, signal)
  }

  /** Gives up what is under way for a pod; resolves when it has ended. */
  async end(uid: PodUid): Promise<void> {
    const preparation = this.#underWay.get(uid)
    preparation?.giveUp.abort(new Error('Pod has ended'))
    await preparation?.done.catch(() => {})
  }

  #begin(uid: PodUid, work: (signal: AbortSignal) => Promise<void>): Preparation {
    const { promise: done, resolve, reject } = Promise.withResolvers<void>()
    const preparation: Preparation = { done, giveUp: new AbortController() }
    // It may fail while no caller waits for it.
    done.catch(() => {})
    this.#underWay.set(uid, preparation)
    const { signal } = preparation.giveUp
    this.#tasks.run(`claims of pod ${uid}`, async (shutdown) => {
      using scope = new AbortScope(shutdown)
      const end = () => scope.abort(signal.reason as Error)
      signal.addEventListener('abort', end, { once: true })
      try {
        await work(scope.signal)
        resolve()
      } catch (error) {
        reject(error)
      } finally {
        signal.removeEventListener('abort', end)
        this.#underWay.delete(uid)
      }
    })
    return preparation
  }
}
