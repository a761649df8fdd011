import type { ImageAccessRights, RecordedSecret } from './pull-record.ts'

// A namespace more a day must not make a record grow for ever.
const MAX_SECRETS = 100

/** The rights after another pull or another proof: what was known stays, a secret's newest login takes the place of its older one. */
export function computeAccessRights(known: ImageAccessRights, added: ImageAccessRights): ImageAccessRights {
  if (known.nodePodsAccessible === true || added.nodePodsAccessible === true) return { nodePodsAccessible: true }
  const fresh = added.kubernetesSecrets ?? []
  const isReplaced = (secret: RecordedSecret) =>
    fresh.some(({ uid, namespace, name }) => {
      return uid === secret.uid && namespace === secret.namespace && name === secret.name
    })
  const kept = (known.kubernetesSecrets ?? []).filter((secret) => !isReplaced(secret))
  const secrets = [...kept, ...fresh].slice(-MAX_SECRETS)
  const accounts = known.kubernetesServiceAccounts ?? []
  return {
    ...(secrets.length === 0 ? {} : { kubernetesSecrets: secrets }),
    ...(accounts.length === 0 ? {} : { kubernetesServiceAccounts: accounts }),
  }
}
