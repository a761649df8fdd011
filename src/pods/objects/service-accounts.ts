import type { ServiceAccount } from '../../model/generated/core-v1.ts'
import type { Pod, PodUid } from '../../model/pod/pod.ts'
import { ObjectError } from './object-api.ts'
import type { ObjectApi } from './object-api.ts'

interface ServiceAccountsDeps {
  readonly api: Pick<ObjectApi, 'get'>
  /** Nothing is remembered for a pod that is gone when the answer comes. */
  readonly isKnown: (uid: PodUid) => boolean
}

/** The service accounts of pods. While no API server answers a pod has the one it had last, so that its containers can start again. */
export class ServiceAccounts {
  readonly #deps: ServiceAccountsDeps
  readonly #last = new Map<PodUid, ServiceAccount>()

  constructor(deps: ServiceAccountsDeps) {
    this.#deps = deps
  }

  async get({ metadata, spec }: Pod, signal: AbortSignal): Promise<ServiceAccount> {
    const { uid, namespace } = metadata
    const key = { namespace, name: spec.serviceAccountName ?? 'default' }
    try {
      const account = await this.#deps.api.get('ServiceAccount', key, { cached: false }, signal)
      if (this.#deps.isKnown(uid)) this.#last.set(uid, account)
      return account
    } catch (error) {
      const last = this.#last.get(uid)
      if (last === undefined || !(error instanceof ObjectError) || error.reason !== 'Unavailable') throw error
      return last
    }
  }

  forget(uid: PodUid): void {
    this.#last.delete(uid)
  }
}
