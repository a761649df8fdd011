import type { ObjectIdentity } from './credential.ts'
import type { ImageAccessRights } from './pull-record.ts'

// A namespace more a day must not make a record grow for ever.
const MAX_OF_A_KIND = 100

/** The rights after another pull or another proof: what was known stays, a secret's newest login takes the place of its older one. */
export function computeAccessRights(known: ImageAccessRights, added: ImageAccessRights): ImageAccessRights {
  if (known.nodePodsAccessible === true || added.nodePodsAccessible === true) return { nodePodsAccessible: true }
  const secrets = merge(known.kubernetesSecrets, added.kubernetesSecrets)
  const accounts = merge(known.kubernetesServiceAccounts, added.kubernetesServiceAccounts)
  return {
    ...(secrets.length === 0 ? {} : { kubernetesSecrets: secrets }),
    ...(accounts.length === 0 ? {} : { kubernetesServiceAccounts: accounts }),
  }
}

function merge<T extends ObjectIdentity>(known: readonly T[] = [], fresh: readonly T[] = []): readonly T[] {
  const isReplaced = (object: ObjectIdentity) =>
    fresh.some(({ uid, namespace, name }) => {
      return uid === object.uid && namespace === object.namespace && name === object.name
    })
  return [...known.filter((object) => !isReplaced(object)), ...fresh].slice(-MAX_OF_A_KIND)
}
