import type { Pod } from '../../../model/pod/pod.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import type { KeyringEntry } from './compute-credentials.ts'
import type { Credential } from './credential.ts'
import { DockerConfigError, parseDockerConfig } from './parse-docker-config.ts'
import type { DockerConfigForm } from './parse-docker-config.ts'

/** A Secret of the API as pulls see it. */
export interface PullSecret {
  readonly uid: string
  readonly type: string
  readonly data: ReadonlyMap<string, Uint8Array>
}

/** Finds a Secret; undefined when it is not there or cannot be known now. */
export type FindSecret = (
  secret: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
) => Promise<PullSecret | undefined>

/** The logins of a pod's own secrets, and the names of those that could not be read. */
export interface PodLogins {
  readonly logins: readonly KeyringEntry<Credential>[]
  readonly missing: readonly string[]
}

const FORMS: Readonly<Record<string, readonly [key: string, form: DockerConfigForm]>> = {
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson', 'config.json'],
  'kubernetes.io/dockercfg': ['.dockercfg', '.dockercfg'],
}

/** Reads the logins of all imagePullSecrets of a pod into one keyring. */
export async function readPullSecrets(
  deps: { readonly findSecret: FindSecret; readonly log: Logger },
  pod: Pod,
  signal: AbortSignal,
): Promise<PodLogins> {
  const { namespace } = pod.metadata
  const names = (pod.spec.imagePullSecrets ?? []).flatMap(({ name = '' }) => (name === '' ? [] : [name]))
  const found = await Promise.all(
    names.map(async (name) => ({ name, secret: await deps.findSecret({ namespace, name }, signal) })),
  )
  return {
    logins: found.flatMap(({ name, secret }) => (secret === undefined ? [] : readLogins(secret, name, pod, deps.log))),
    missing: found.filter(({ secret }) => secret === undefined).map(({ name }) => name),
  }
}

function readLogins(secret: PullSecret, name: string, pod: Pod, log: Logger): readonly KeyringEntry<Credential>[] {
  const { namespace } = pod.metadata
  const where = { pod: `${namespace}/${pod.metadata.name}`, secretName: name }
  const [key, form] = (Object.hasOwn(FORMS, secret.type) ? FORMS[secret.type] : undefined) ?? []
  const bytes = key === undefined ? undefined : secret.data.get(key)
  if (form === undefined || bytes === undefined || bytes.length === 0) return []
  try {
    const { logins, problems } = parseDockerConfig(Buffer.from(bytes).toString('utf8'), form)
    if (problems.length > 0) log.warn('left out a login of an image pull secret', { ...where, problems })
    const identity = { uid: secret.uid, namespace, name }
    return logins.map(({ location, value }) => ({ location, value: { login: value, secret: identity } }))
  } catch (error) {
    if (!(error instanceof DockerConfigError)) throw error
    log.warn('cannot use an image pull secret', { ...where, error })
    return []
  }
}
