import type { PodAccounts } from '../images/credentials/plugin-account.ts'
import type { PodObjects } from './pod-objects.ts'

// As long as the API gives to who does not say; credential plugins cannot say.
const TOKEN_SECONDS = 3600

/** The service accounts of pods and tokens of them that end with the pod, for credential plugins. */
export function createPodAccounts(objects: Pick<PodObjects, 'serviceAccount' | 'token'>): PodAccounts {
  return {
    account: (pod, signal) => objects.serviceAccount(pod, signal),
    async token(pod, { audience, accountUid }, signal) {
      const { name, uid } = pod.metadata
      const boundObject = { kind: 'Pod', name, uid } as const
      const spec = { audiences: [audience], expirationSeconds: TOKEN_SECONDS, boundObject, accountUid }
      return (await objects.token(pod, spec, signal)).token
    },
  }
}
