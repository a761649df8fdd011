import type { Clock } from '../async/clock.ts'
import type { CredentialProvider } from '../config/credential-providers/load-credential-providers.ts'
import type { ProcessRequest, ProcessResult } from '../host/run-process.ts'
import type { Pod } from '../model/pod.ts'
import type { Logger } from '../telemetry/logger.ts'
import { matchesRegistry, toRegistryKey } from './compute-credentials.ts'
import type { KeyringEntry } from './compute-credentials.ts'
import type { Login } from './credential.ts'
import type { ImageMetrics } from '../telemetry/create-image-metrics.ts'
import { formatPluginRequest, parsePluginAnswer, PluginAnswerError } from './plugin-protocol.ts'
import type { CacheKeyType, PluginAnswer } from './plugin-protocol.ts'
import { waitForShared } from '../async/wait-for-shared.ts'

export interface CredentialPluginDeps {
  readonly run: (request: ProcessRequest, signal: AbortSignal) => Promise<ProcessResult>
  /** The agent's own, to which that of the configuration is added. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly metrics?: ImageMetrics
  readonly clock: Clock
  readonly log: Logger
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

  /** What the plugin knows for a repository. One that fails knows nothing, which is told in the log. */
  async logins(pod: Pod, repository: string, signal: AbortSignal): Promise<readonly KeyringEntry<Login>[]> {
    const { matchImages } = this.#provider
    if (!matchImages.some((pattern) => matchesRegistry(toRegistryKey(pattern), repository))) return []
    if (!this.#servesAccount(pod)) return []
    const kept = this.#findKept(repository)
    if (kept !== undefined) return kept
    const running = this.#running.get(repository) ?? this.#start(repository)
    return await waitForShared(running, signal)
  }

  /** Tokens of service accounts come from an API server, and there is none: a plugin that wants one serves pods without an account. */
  #servesAccount(pod: Pod): boolean {
    const { name, tokenAttributes } = this.#provider
    if (tokenAttributes === undefined) return true
    const { serviceAccountName = '' } = pod.spec
    if (serviceAccountName === '') return tokenAttributes.requireServiceAccount !== true
    this.#deps.log.warn('cannot ask a credential plugin: it wants a token of a service account', {
      plugin: name,
      serviceAccountName,
    })
    return false
  }

  #findKept(repository: string): readonly KeyringEntry<Login>[] | undefined {
    const now = this.#deps.clock.monotonic()
    const types: readonly CacheKeyType[] = ['Image', 'Registry', 'Global']
    const found = types.map((type) => this.#kept.get(toCacheKey(type, repository)))
    return found.find((entry) => entry !== undefined && entry.until > now)?.logins
  }

  #start(repository: string): Promise<readonly KeyringEntry<Login>[]> {
    const running = this.#ask(repository).finally(() => this.#running.delete(repository))
    // When all who wait are gone, nobody hears how it ended.
    running.catch(() => {})
    this.#running.set(repository, running)
    return running
  }

  async #ask(repository: string): Promise<readonly KeyringEntry<Login>[]> {
    const { log, clock, metrics } = this.#deps
    const startedAt = clock.monotonic()
    const tellRun = (failed: boolean) =>
      metrics?.credentialPluginRun(this.#provider.name, (clock.monotonic() - startedAt) / 1000, failed)
    try {
      const answer = await this.#run(repository)
      tellRun(false)
      this.#keep(repository, answer)
      return answer.logins
    } catch (error) {
      this.#signal.throwIfAborted()
      tellRun(true)
      log.warn('a credential plugin failed', { plugin: this.#provider.name, image: repository, error })
      return []
    }
  }

  async #run(repository: string): Promise<PluginAnswer> {
    const { program, args, env, apiVersion } = this.#provider
    const own = Object.fromEntries(env.map(({ name, value }) => [name, value]))
    const request: ProcessRequest = {
      argv: [program, ...args],
      stdin: formatPluginRequest(apiVersion, repository),
      environment: { ...this.#deps.environment, ...own },
      deadlineMs: RUN_LIMIT_MS,
      maxOutputBytes: MAX_OUTPUT_BYTES,
    }
    const { exitCode, stdout } = await this.#deps.run(request, this.#signal)
    // What it said is not shown: nobody knows what is in it.
    if (exitCode !== 0) throw new PluginAnswerError(`it ended with exit code ${exitCode ?? 'none'}, expected 0`)
    return parsePluginAnswer(stdout, apiVersion)
  }

  #keep(repository: string, { logins, cacheKeyType, cacheMs }: PluginAnswer): void {
    const ms = cacheMs ?? this.#provider.defaultCacheDuration
    if (ms <= 0) return
    const now = this.#deps.clock.monotonic()
    for (const [key, { until }] of this.#kept) if (until <= now) this.#kept.delete(key)
    const [oldest] = this.#kept.keys()
    if (this.#kept.size >= MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest)
    this.#kept.set(toCacheKey(cacheKeyType, repository), { logins, until: now + ms })
  }
}

function toCacheKey(type: CacheKeyType, repository: string): string {
  if (type === 'Global') return type
  return `${type} ${type === 'Image' ? repository : (repository.split('/')[0] ?? '')}`
}
