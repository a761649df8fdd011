import { DeadlineError } from '../../base/async/abort-errors.ts'
import type { Clock } from '../../base/async/clock.ts'
import { withDeadline } from '../../base/async/deadline.ts'
import { ObjectError } from './object-api.ts'
import type { ObjectApi } from './object-api.ts'

const ANSWER_MS = 10_000

/** The same API, but no question to it takes longer than it may: a server that hangs must not hold up a pod for ever. */
export function limitObjectApi(api: ObjectApi, clock: Clock): ObjectApi {
  const inTime = async <T>(what: string, ask: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> => {
    try {
      return await withDeadline({ clock, ms: ANSWER_MS, what }, ask, signal)
    } catch (error) {
      if (!(error instanceof DeadlineError) || signal.aborted) throw error
      const state = `the API server did not answer within ${ANSWER_MS / 1000} s`
      throw new ObjectError('Unavailable', `Cannot read ${what}: ${state}`, { cause: error })
    }
  }
  return {
    get: (kind, key, options, signal) =>
      inTime(`${kind} ${key.namespace}/${key.name}`, (s) => api.get(kind, key, options, s), signal),
    watch: (kind, key, onObject, signal) => api.watch(kind, key, onObject, signal),
    patchClaimStatus: (key, patch, signal) =>
      inTime(
        `the answer about PersistentVolumeClaim ${key.namespace}/${key.name}`,
        (s) => api.patchClaimStatus(key, patch, s),
        signal,
      ),
    createToken: (account, spec, signal) =>
      inTime(
        `a token of service account ${account.namespace}/${account.name}`,
        (s) => api.createToken(account, spec, s),
        signal,
      ),
  }
}
