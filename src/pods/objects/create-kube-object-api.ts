import { AbortScope } from '../../base/async/abort-scope.ts'
import type { Clock } from '../../base/async/clock.ts'
import { KubeApiError, KubeUnreachableError, isNotFound } from '../../protocols/kube-api/kube-client.ts'
import type { KubeClient } from '../../protocols/kube-api/kube-client.ts'
import { watchObject } from '../../protocols/kube-api/list-watch/watch-object.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { ObjectError } from './object-api.ts'
import type { ObjectApi, NamespacedName, ReferencedKind, ReferencedKinds, Token, TokenSpec } from './object-api.ts'

export interface KubeObjectApiDeps {
  readonly client: KubeClient
  readonly clock: Clock
  readonly random: () => number
  readonly log: Logger
}

interface TokenRequest {
  readonly spec?: { readonly expirationSeconds?: number }
  readonly status?: { readonly token?: string; readonly expirationTimestamp?: string }
}

const RESOURCES: Readonly<Record<ReferencedKind, string>> = {
  ConfigMap: 'configmaps',
  Secret: 'secrets',
  PersistentVolumeClaim: 'persistentvolumeclaims',
  PersistentVolume: 'persistentvolumes',
  ServiceAccount: 'serviceaccounts',
}
// There are many of them, and few change.
const WATCH_SECONDS = 1800

/** The objects of pods from a Kubernetes API, each asked for by its name: a node may not read others. */
export function createKubeObjectApi(deps: KubeObjectApiDeps): ObjectApi {
  const { client } = deps
  return {
    async get<K extends ReferencedKind>(
      kind: K,
      key: NamespacedName,
      { cached }: { readonly cached: boolean },
      signal: AbortSignal,
    ) {
      const path = `${collectionOf(kind, key)}/${encodeURIComponent(key.name)}`
      const query = cached ? { resourceVersion: '0' } : {}
      return await orObjectError(() => client.send<ReferencedKinds[K]>({ method: 'GET', path, query }, signal), signal)
    },
    watch: (kind, key, onObject, signal) => watchOne(deps, kind, key, onObject, signal),
    patchClaimStatus: (key, body, signal) => {
      const path = `${collectionOf('PersistentVolumeClaim', key)}/${encodeURIComponent(key.name)}/status`
      const contentType = 'application/merge-patch+json'
      return orObjectError(() => client.send({ method: 'PATCH', path, body, contentType }, signal), signal)
    },
    createToken: (account, spec, signal) => orObjectError(() => createToken(client, account, spec, signal), signal),
  }
}

/** One watch after another as long as each ends in peace; the first that breaks ends it. */
async function watchOne<K extends 'ConfigMap' | 'Secret'>(
  deps: KubeObjectApiDeps,
  kind: K,
  key: NamespacedName,
  onObject: (object: ReferencedKinds[K] | undefined) => void,
  signal: AbortSignal,
): Promise<never> {
  using scope = new AbortScope(signal)
  return await watchObject<ReferencedKinds[K]>(
    {
      ...deps,
      path: collectionOf(kind, key),
      name: key.name,
      // What was reported before a break must not come after it again.
      fresh: true,
      watchSeconds: WATCH_SECONDS,
      onObject,
      onProblem: (error) => scope.abort(toObjectError(error)),
    },
    scope.signal,
  )
}

function collectionOf(kind: ReferencedKind, { namespace }: NamespacedName): string {
  const scope = namespace === '' ? '' : `namespaces/${encodeURIComponent(namespace)}/`
  return `/api/v1/${scope}${RESOURCES[kind]}`
}

async function createToken(
  client: KubeClient,
  account: NamespacedName,
  spec: TokenSpec,
  signal: AbortSignal,
): Promise<Token> {
  const { audiences, expirationSeconds, boundObject, accountUid } = spec
  const [namespace, name] = [account.namespace, account.name].map(encodeURIComponent)
  const accountPath = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}`
  const body = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    ...(accountUid !== undefined && { metadata: { uid: accountUid } }),
    spec: {
      audiences,
      expirationSeconds,
      ...(boundObject !== undefined && { boundObjectRef: { apiVersion: 'v1', ...boundObject } }),
    },
  }
  let answer: TokenRequest
  try {
    answer = await client.send<TokenRequest>({ method: 'POST', path: `${accountPath}/token`, body }, signal)
  } catch (error) {
    if (!isNotFound(error) || !(await hasAccount(client, accountPath, signal))) throw error
    throw new ObjectError('Other', 'the API server does not have TokenRequest endpoints enabled')
  }
  const { token = '', expirationTimestamp = '' } = answer.status ?? {}
  const expiresAt = Date.parse(expirationTimestamp)
  if (token === '' || Number.isNaN(expiresAt)) {
    throw new ObjectError(
      'Other',
      `Cannot have a token of service account "${account.name}": the answer has none with an end`,
    )
  }
  return { token, expiresAt, lifeSeconds: answer.spec?.expirationSeconds ?? expirationSeconds }
}

/** A token that is not found for an account that is there: then there is no such endpoint. */
async function hasAccount(client: KubeClient, path: string, signal: AbortSignal): Promise<boolean> {
  try {
    await client.send({ method: 'GET', path }, signal)
    return true
  } catch {
    signal.throwIfAborted()
    return false
  }
}

async function orObjectError<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    throw signal.aborted ? signal.reason : toObjectError(error)
  }
}

function toObjectError(error: unknown): Error {
  if (error instanceof KubeApiError) return new ObjectError(toReason(error.code), error.message, { cause: error })
  if (error instanceof KubeUnreachableError) return new ObjectError('Unavailable', error.message, { cause: error })
  return Error.isError(error) ? error : new ObjectError('Other', String(error))
}

function toReason(code: number): ObjectError['reason'] {
  if (code === 404) return 'NotFound'
  if (code === 403) return 'Forbidden'
  return code === 429 || code >= 500 ? 'Unavailable' : 'Other'
}
