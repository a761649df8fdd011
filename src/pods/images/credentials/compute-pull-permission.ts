import type { ObjectIdentity } from './credential.ts'
import type { ImageAccessRights, PullRecord, RecordedSecret } from './pull-record.ts'

/** Which images that are on the node may be used without showing credentials; undefined where nothing is verified at all. */
export type VerificationPolicy =
  | 'NeverVerify'
  | 'NeverVerifyPreloadedImages'
  | 'NeverVerifyAllowlistedImages'
  | 'AlwaysVerify'

/** What the agent knows of how an image came to the node; a record that cannot be read may hide anything. */
export type PullHistory =
  | { readonly kind: 'none' }
  /** Being pulled, or pulled when the agent died. */
  | { readonly kind: 'begun' }
  | { readonly kind: 'recorded'; readonly record: PullRecord }
  | { readonly kind: 'unreadable' }

export interface PermissionInput {
  readonly policy: VerificationPolicy | undefined
  /** Repositories, exactly or with a slash and * at the end. */
  readonly allowlist: readonly string[]
  readonly repository: string
  readonly history: PullHistory
}

/** What a pod can show. */
export interface PodProofs {
  readonly secrets: readonly RecordedSecret[]
  readonly serviceAccount: ObjectIdentity | undefined
}

/** May every pod use the image, must it be pulled again, or does it depend on what the pod can show? */
export type PullPermission = 'use' | 'pull' | { readonly rights: ImageAccessRights }

/** Decides about an image that is on the node, by policy and by what is recorded of its pull. */
export function computePullPermission({ policy, allowlist, repository, history }: PermissionInput): PullPermission {
  if (policy === undefined || policy === 'NeverVerify') return 'use'
  if (policy === 'NeverVerifyPreloadedImages' && history.kind === 'none') return 'use'
  if (policy === 'NeverVerifyAllowlistedImages' && isAllowlisted(allowlist, repository)) return 'use'
  if (history.kind !== 'recorded') return 'pull'
  const { credentialMapping } = history.record
  const rights = Object.hasOwn(credentialMapping, repository) ? credentialMapping[repository] : undefined
  if (rights === undefined) return 'pull'
  if (rights.nodePodsAccessible === true) return 'use'
  const { kubernetesSecrets = [], kubernetesServiceAccounts = [] } = rights
  return kubernetesSecrets.length === 0 && kubernetesServiceAccounts.length === 0 ? 'pull' : { rights }
}

/** Which of a pod's proofs opens an image; a secret that is not recorded as it is now is to be recorded. */
export function findProof(
  rights: ImageAccessRights,
  proofs: PodProofs,
): { readonly newSecret: RecordedSecret | undefined } | undefined {
  const { kubernetesSecrets = [], kubernetesServiceAccounts = [] } = rights
  for (const secret of proofs.secrets) {
    const known = kubernetesSecrets.find((other) => sameIdentity(other, secret) || sameLogin(other, secret))
    if (known === undefined) continue
    const isRecorded = kubernetesSecrets.some((other) => sameIdentity(other, secret) && sameLogin(other, secret))
    return { newSecret: isRecorded ? undefined : secret }
  }
  const { serviceAccount } = proofs
  const hasAccount =
    serviceAccount !== undefined && kubernetesServiceAccounts.some((other) => sameIdentity(other, serviceAccount))
  return hasAccount ? { newSecret: undefined } : undefined
}

function isAllowlisted(allowlist: readonly string[], repository: string): boolean {
  return allowlist.some((entry) => {
    return entry.endsWith('/*') ? repository.startsWith(entry.slice(0, -1)) : repository === entry
  })
}

function sameIdentity(a: ObjectIdentity, b: ObjectIdentity): boolean {
  return a.uid === b.uid && a.namespace === b.namespace && a.name === b.name
}

function sameLogin(a: RecordedSecret, b: RecordedSecret): boolean {
  return a.credentialHash !== '' && a.credentialHash === b.credentialHash
}
