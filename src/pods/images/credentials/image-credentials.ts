import type { Pod } from '../../../model/pod/pod.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import { computeCredentials } from './compute-credentials.ts'
import type { KeyringEntry } from './compute-credentials.ts'
import { hashLogin } from './hash-login.ts'
import type { Credential, Login } from './credential.ts'
import { readPullSecrets } from './pull-secrets.ts'
import type { FindSecret } from './pull-secrets.ts'

export interface ImageCredentialsDeps {
  readonly findSecret: FindSecret
  readonly node: { logins(): Promise<readonly KeyringEntry<Login>[]> }
  readonly plugins: readonly {
    credentials(pod: Pod, repository: string, signal: AbortSignal): Promise<readonly KeyringEntry<Credential>[]>
  }[]
  readonly log: Logger
}

/** What a pull for a pod may try, in order. Without any it is tried without a login. */
export interface FoundCredentials {
  readonly candidates: readonly Credential[]
  /** Names of imagePullSecrets that could not be read. */
  readonly missingSecrets: readonly string[]
}

/** Finds the logins to a repository: the pod's own secrets first, then those of the node, then the plugins. */
export class ImageCredentials {
  readonly #deps: ImageCredentialsDeps

  constructor(deps: ImageCredentialsDeps) {
    this.#deps = deps
  }

  async find(pod: Pod, repository: string, signal: AbortSignal): Promise<FoundCredentials> {
    const { node, plugins } = this.#deps
    const [own, shared, ...given] = await Promise.all([
      readPullSecrets(this.#deps, pod, signal),
      node.logins(),
      ...plugins.map((plugin) => plugin.credentials(pod, repository, signal)),
    ])
    const all = [
      ...computeCredentials(own.logins, repository),
      ...computeCredentials(shared, repository).map((login) => ({ login, secret: undefined })),
      ...given.flatMap((credentials) => computeCredentials(credentials, repository)),
    ]
    return { candidates: withoutRepeats(all), missingSecrets: own.missing }
  }
}

/** A login that was refused once is refused again. */
function withoutRepeats(credentials: readonly Credential[]): readonly Credential[] {
  const byHash = new Map<string, Credential>()
  for (const credential of credentials) byHash.getOrInsert(hashLogin(credential.login), credential)
  return [...byHash.values()]
}
