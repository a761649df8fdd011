import { createHash } from 'node:crypto'
import { AbortScope } from '../../base/async/abort-scope.ts'
import { Turnstile } from '../../base/async/turnstile.ts'
import type { CriCalls } from '../../protocols/cri/cri-calls.ts'
import type { Image } from '../../protocols/cri/generated/runtime-v1.ts'
import { StartError } from '../../model/pod/start-error.ts'
import { hashLogin } from './credentials/hash-login.ts'
import type { ImageMetrics } from '../../metrics/image-metrics.ts'
import type { Credential } from './credentials/credential.ts'
import { pullWithCredentials } from './credentials/pull-with-credentials.ts'
import type { CredentialedPull } from './credentials/pull-with-credentials.ts'
import { inspectError, readImage } from './read-image.ts'
import { runPullProgress } from './run-pull-progress.ts'
import type { PullProgressDeps } from './run-pull-progress.ts'
import { TokenBucket } from '../../base/async/token-bucket.ts'
import { waitForShared } from '../../base/async/wait-for-shared.ts'
import { errorMessage } from '../../base/telemetry/error-text.ts'

export interface PullLimits {
  /** How many pulls run at the same time; 1 pulls one image after the other. */
  readonly maxParallel: number
  /** How many pulls may begin per second; 0 is no limit. */
  readonly perSecond: number
  readonly burst: number
}

/** Keeps account of pulls, so that it is known afterwards who may use an image. */
interface PullAccount {
  begin(image: string): Promise<void>
  succeed(named: { readonly image: string; readonly ref: string }, credential: Credential | undefined): Promise<void>
  fail(image: string): Promise<void>
}

export interface SharedPullsDeps extends PullProgressDeps {
  readonly calls: Pick<CriCalls, 'imageStatus' | 'pullImage'>
  readonly access: PullAccount
  readonly limits: PullLimits
  readonly metrics?: ImageMetrics
}

export interface PullRequest extends CredentialedPull {
  /** Of the pod: the more important pulls first when they queue. */
  readonly priority: number
  /** Takes a word about a pull that takes long, once. */
  readonly onProgress: (text: string) => void
}

export interface PulledImage {
  readonly ref: string
  readonly image: Image
  /** How long the runtime took, without waiting for a place. */
  readonly pullMs: number
}

interface SharedPull {
  readonly result: Promise<PulledImage>
  readonly cancel: AbortController
  readonly waiters: Set<Waiter>
}

interface Waiter {
  readonly onProgress: (text: string) => void
  reported: boolean
}

// A registry that hangs must not keep all other images out when few pulls may run at a time.
const PATIENCE_MS = 600_000

/**
 * Pulls each image once at a time however many pods wait for it with the same logins. A pod that no longer waits does not end the pull
 * for the others; the last one does.
 */
export class SharedPulls {
  readonly #deps: SharedPullsDeps
  readonly #places: Turnstile
  readonly #rate: TokenBucket
  readonly #running = new Map<string, SharedPull>()

  constructor(deps: SharedPullsDeps) {
    const { clock, limits } = deps
    this.#deps = deps
    this.#places = new Turnstile({ places: limits.maxParallel, patienceMs: PATIENCE_MS, clock })
    this.#rate = new TokenBucket({ ...limits, clock })
  }

  /** Pulls run or queue. */
  get size(): number {
    return this.#running.size
  }

  /** Fails with a StartError, or with the signal's reason when it aborts first. */
  async pull(request: PullRequest, signal: AbortSignal): Promise<PulledImage> {
    signal.throwIfAborted()
    const key = toKey(request)
    const shared = this.#running.get(key) ?? this.#start(key, request)
    const waiter: Waiter = { onProgress: request.onProgress, reported: false }
    shared.waiters.add(waiter)
    try {
      return await waitForShared(shared.result, signal)
    } finally {
      shared.waiters.delete(waiter)
      if (shared.waiters.size === 0) {
        this.#forget(key, shared)
        shared.cancel.abort(new Error(`Cannot go on pulling "${request.wanted.image}": no pod waits for it any more`))
      }
    }
  }

  #start(key: string, request: PullRequest): SharedPull {
    const cancel = new AbortController()
    const waiters = new Set<Waiter>()
    const result = this.#run(request, waiters, cancel.signal).finally(() => this.#forget(key, shared))
    // When the last waiter leaves, the end of the pull is of no interest.
    result.catch(() => {})
    const shared: SharedPull = { result, cancel, waiters }
    this.#running.set(key, shared)
    return shared
  }

  /** A new pull of the same image may have taken the place of one that was cancelled. */
  #forget(key: string, shared: SharedPull): void {
    if (this.#running.get(key) === shared) this.#running.delete(key)
  }

  async #run(request: PullRequest, waiters: ReadonlySet<Waiter>, signal: AbortSignal): Promise<PulledImage> {
    using progress = new AbortScope(signal)
    let stage: 'waiting' | 'pulling' = 'waiting'
    const observed = {
      image: request.wanted.image,
      stage: () => stage,
      waiters: () => waiters.size,
      report: (text: string) => reportOnce(waiters, text),
    }
    // Ends by being aborted, which is no failure.
    runPullProgress(this.#deps, observed, progress.signal).catch(() => {})
    const pull = async () => {
      stage = 'pulling'
      return await this.#pullNow(request, signal)
    }
    return await this.#places.runInTurn(request.priority, pull, signal)
  }

  async #pullNow(request: PullRequest, signal: AbortSignal): Promise<PulledImage> {
    const { calls, clock } = this.#deps
    if (!this.#rate.take()) throw new StartError('ErrImagePull', 'pull QPS exceeded')
    const startedAt = clock.monotonic()
    const ref = await this.#pullAccounted(request, signal)
    const pullMs = clock.monotonic() - startedAt
    const image = await readImage(calls, request.wanted, signal)
    if (image === undefined) throw inspectError(request.wanted.image, 'it is not on the node although it was pulled')
    this.#deps.metrics?.imagePulled(Number(image.size), pullMs / 1000)
    return { ref, image, pullMs }
  }

  async #pullAccounted(request: PullRequest, signal: AbortSignal): Promise<string> {
    const { calls, access } = this.#deps
    const { image } = request.wanted
    await access.begin(image).catch((error: unknown) => {
      const why = errorMessage(error)
      throw new StartError('ErrImagePull', `Cannot note the pull of image ${JSON.stringify(image)}: ${why}`, {
        cause: error,
      })
    })
    try {
      const { ref, credential } = await pullWithCredentials(calls, request, signal)
      await access.succeed({ image, ref }, credential)
      return ref
    } catch (error) {
      await access.fail(image)
      throw error
    }
  }
}

/** Pods that may use different logins must not get an image by that of another; nor by its account, which is what is recorded. */
function toKey({ wanted, candidates }: CredentialedPull): string {
  const logins = createHash('sha256')
  for (const { login, account } of candidates) logins.update(hashLogin(login)).update(account?.uid ?? '')
  return `${wanted.image} ${wanted.runtimeHandler ?? ''} ${logins.digest('hex')}`
}

function reportOnce(waiters: ReadonlySet<Waiter>, text: string): void {
  for (const waiter of waiters) {
    if (!waiter.reported) waiter.onProgress(text)
    waiter.reported = true
  }
}
