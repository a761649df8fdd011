import { createHash } from 'node:crypto'
import type { CredentialProvider } from '../../../model/config/credential-providers/load-credential-providers.ts'
import type { ServiceAccount } from '../../../model/generated/core-v1.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import type { ObjectIdentity } from './credential.ts'

type TokenAttributes = NonNullable<CredentialProvider['tokenAttributes']>

/** Where plugins get the service accounts of pods from. Fails when one cannot be read. */
export interface PodAccounts {
  account(pod: Pod, signal: AbortSignal): Promise<ServiceAccount>
  /** Ends with the pod. */
  token(
    pod: Pod,
    wanted: { readonly audience: string; readonly accountUid: string },
    signal: AbortSignal,
  ): Promise<string>
}

/** The service account of a pod as a plugin gets it. */
export interface PluginAccount {
  readonly identity: ObjectIdentity
  readonly annotations: Readonly<Record<string, string>>
  /** Never logged. */
  readonly token: string
}

/** Reads what a plugin wants to know of a pod's service account; only the key for one that lacks an annotation the plugin needs. */
export async function readPluginAccount(
  accounts: PodAccounts,
  attributes: TokenAttributes,
  pod: Pod,
  signal: AbortSignal,
): Promise<PluginAccount | { readonly missingKey: string }> {
  const { requiredServiceAccountAnnotationKeys: required, optionalServiceAccountAnnotationKeys: optional } = attributes
  const { metadata = {} } = await accounts.account(pod, signal)
  const { uid = '', annotations = {} } = metadata
  const missingKey = required.find((key) => !Object.hasOwn(annotations, key))
  if (missingKey !== undefined) return { missingKey }
  const shown = [...required, ...optional].toSorted().flatMap((key) => {
    const value = Object.hasOwn(annotations, key) ? annotations[key] : undefined
    return value === undefined ? [] : [[key, value] as const]
  })
  const audience = attributes.serviceAccountTokenAudience
  return {
    identity: { uid, namespace: pod.metadata.namespace, name: pod.spec.serviceAccountName ?? '' },
    annotations: Object.fromEntries(shown),
    token: await accounts.token(pod, { audience, accountUid: uid }, signal),
  }
}

/** What an answer that is kept belongs to: the account with what the plugin saw of it, and with cacheType Token this very token. */
export function toAccountKey(account: PluginAccount | undefined, cacheType: TokenAttributes['cacheType']): string {
  if (account === undefined) return ''
  const { identity, annotations, token } = account
  const { uid, namespace, name } = identity
  return JSON.stringify([uid, namespace, name, annotations, cacheType === 'ServiceAccount' ? '' : hash(token)])
}

/** What a run of the plugin belongs to: a token, because it ends with its pod and another pod must not fail by that. */
export function toRunKey(repository: string, account: PluginAccount | undefined): string {
  return account === undefined ? repository : `${repository} ${toAccountKey(account, 'Token')}`
}

function hash(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}
