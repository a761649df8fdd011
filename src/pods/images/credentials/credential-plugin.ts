import type { Clock } from '../../../base/async/clock.ts'
import type { CredentialProvider } from '../../../model/config/credential-providers/load-credential-providers.ts'
import type { ProcessRequest, ProcessResult } from '../../../system/processes/run-process.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import type { LogFields, Logger } from '../../../base/telemetry/logger.ts'
import { matchesRegistry, toRegistryKey } from './compute-credentials.ts'
import type { KeyringEntry } from './compute-credentials.ts'
import type { Credential, Login } from './credential.ts'
import type { ImageMetrics } from '../../../metrics/image-metrics.ts'
import { readPluginAccount, toAccountKey, toRunKey } from './plugin-account.ts'
import type { PluginAccount, PodAccounts } from './plugin-account.ts'
import { formatPluginRequest, parsePluginAnswer, PluginAnswerError } from './plugin-protocol.ts'
import type { CacheKeyType, PluginAnswer } from './plugin-protocol.ts'
import { waitForShared } from '../../../base/async/wait-for-shared.ts'

export interface CredentialPluginDeps {
  readonly run: (request: ProcessRequest, signal: AbortSignal) => Promise<ProcessResult>
  /** The agent's own, to which that of the configuration is added. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly accounts: PodAccounts
  readonly metrics?: ImageMetrics
  readonly clock: Clock
  readonly log: Logger
}

interface Question {
  readonly pod: Pod
  readonly repository: string
  /** Undefined for a plugin that wants no token, and for a pod without a service account. */
  readonly account: PluginAccount | undefined
}

interface KeptAnswer {
  readonly logins: readonly KeyringEntry<Login>[]
  readonly until: number
}

const RUN_LIMIT_MS = 60_000
// A token has a few kilobytes; what does not end is cut off and then makes no sense.
const MAX_OUTPUT_BYTES = 1024 * 1024
// Far more images than a node has.
const MAX_KEPT = 1000

/** One credential plugin: run once at a time for an image, its answers kept as long as it says. */
export class CredentialPlugin {
  readonly #provider: CredentialProvider
  readonly #deps: CredentialPluginDeps
  readonly #signal: AbortSignal
  readonly #kept = new Map<string, KeptAnswer>()
  readonly #running = new Map<string, Promise<readonly KeyringEntry<Login>[]>>()

  /** The signal is that of the agent: a run serves all pods that wait for it, and none of them ends it. */
  constructor(provider: CredentialProvider, deps: CredentialPluginDeps, signal: AbortSignal) {
    this.#provider = provider
    this.#deps = deps
    this.#signal = signal
  }

  /** What the plugin knows for a repository. One that fails, or is not to be asked, knows nothing, which is logged. */
  async credentials(pod: Pod, repository: string, signal: AbortSignal): Promise<readonly KeyringEntry<Credential>[]> {
    const { matchImages } = this.#provider
    if (!matchImages.some((pattern) => matchesRegistry(toRegistryKey(pattern), repository))) return []
    const question = await this.#toQuestion(pod, repository, signal)
    if (question === undefined) return []
    const key = toRunKey(repository, question.account)
    const logins =
      this.#findKept(question) ?? (await waitForShared(this.#running.get(key) ?? this.#start(key, question), signal))
    const account = question.account?.identity
    return logins.map(({ location, value }) => ({ location, value: { login: value, secret: undefined, account } }))
  }

  /** Undefined when the plugin is not to be asked for this pod. */
  async #toQuestion(pod: Pod, repository: string, signal: AbortSignal): Promise<Question | undefined> {
    const { tokenAttributes } = this.#provider
    if (tokenAttributes === undefined) return { pod, repository, account: undefined }
    if ((pod.spec.serviceAccountName ?? '') === '')
      return tokenAttributes.requireServiceAccount === true ? undefined : { pod, repository, account: undefined }
    const where = this.#describe({ pod, repository })
    try {
      const account = await readPluginAccount(this.#deps.accounts, tokenAttributes, pod, signal)
      if (!('missingKey' in account)) return { pod, repository, account }
      this.#deps.log.debug('a credential plugin is not asked: the service account lacks an annotation that it needs', {
        ...where,
        annotation: account.missingKey,
      })
    } catch (error) {
      signal.throwIfAborted()
      this.#deps.log.warn('cannot ask a credential plugin: it wants a token of the service account', {
        ...where,
        error,
      })
    }
    return undefined
  }

  #findKept(question: Question): readonly KeyringEntry<Login>[] | undefined {
    const now = this.#deps.clock.monotonic()
    const types: readonly CacheKeyType[] = ['Image', 'Registry', 'Global']
    const found = types.map((type) => this.#kept.get(this.#toCacheKey(type, question)))
    return found.find((entry) => entry !== undefined && entry.until > now)?.logins
  }

  #start(key: string, question: Question): Promise<readonly KeyringEntry<Login>[]> {
    const running = this.#ask(question).finally(() => this.#running.delete(key))
    // When all waiters are gone, its end is of no interest.
    running.catch(() => {})
    this.#running.set(key, running)
    return running
  }

  async #ask(question: Question): Promise<readonly KeyringEntry<Login>[]> {
    const { log, clock, metrics } = this.#deps
    const startedAt = clock.monotonic()
    const reportRun = (failed: boolean) =>
      metrics?.credentialProviderRun(this.#provider.name, (clock.monotonic() - startedAt) / 1000, failed)
    try {
      const answer = await this.#run(question)
      reportRun(false)
      this.#keep(question, answer)
      return answer.logins
    } catch (error) {
      this.#signal.throwIfAborted()
      reportRun(true)
      log.warn('a credential plugin failed', { ...this.#describe(question), error })
      return []
    }
  }

  async #run({ repository, account }: Question): Promise<PluginAnswer> {
    const { program, args, env, apiVersion, tokenAttributes } = this.#provider
    const own = Object.fromEntries(env.map(({ name, value }) => [name, value]))
    const request: ProcessRequest = {
      argv: [program, ...args],
      stdin: formatPluginRequest(apiVersion, repository, account),
      environment: { ...this.#deps.environment, ...own },
      deadlineMs: RUN_LIMIT_MS,
      maxOutputBytes: MAX_OUTPUT_BYTES,
    }
    const { exitCode, stdout } = await this.#deps.run(request, this.#signal)
    // What it said is not shown: it may hold secrets.
    if (exitCode !== 0) throw new PluginAnswerError(`it ended with exit code ${exitCode ?? 'none'}, expected 0`)
    const answer = parsePluginAnswer(stdout, apiVersion)
    // Such a login ends with the token, and is good for one pod: it must not be kept for others.
    const isEcho = account !== undefined && answer.logins.some(({ value }) => value.password === account.token)
    if (isEcho && tokenAttributes?.cacheType !== 'Token')
      throw new PluginAnswerError('it gave the token back as a password, expected cacheType Token in its configuration')
    return answer
  }

  #keep(question: Question, { logins, cacheKeyType, cacheMs }: PluginAnswer): void {
    const ms = cacheMs ?? this.#provider.defaultCacheDuration
    if (ms <= 0) return
    const now = this.#deps.clock.monotonic()
    for (const [key, { until }] of this.#kept) if (until <= now) this.#kept.delete(key)
    const [oldest] = this.#kept.keys()
    if (this.#kept.size >= MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest)
    this.#kept.set(this.#toCacheKey(cacheKeyType, question), { logins, until: now + ms })
  }

  #toCacheKey(type: CacheKeyType, { repository, account }: Question): string {
    const owner = toAccountKey(account, this.#provider.tokenAttributes?.cacheType)
    const [registry = ''] = repository.split('/')
    return `${type} ${{ Image: repository, Registry: registry, Global: '' }[type]} ${owner}`
  }

  /** For the log: whom it is about. */
  #describe({ pod, repository }: Pick<Question, 'pod' | 'repository'>): LogFields {
    const { metadata, spec } = pod
    return {
      plugin: this.#provider.name,
      image: repository,
      pod: `${metadata.namespace}/${metadata.name}`,
      ...(this.#provider.tokenAttributes !== undefined && { serviceAccountName: spec.serviceAccountName }),
    }
  }
}
