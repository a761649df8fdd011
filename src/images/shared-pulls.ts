import { AbortScope } from '../async/abort-scope.ts'
import type { Clock } from '../async/clock.ts'
import { Turnstile } from '../async/turnstile.ts'
import { CriCallError } from '../cri/cri-call-error.ts'
import type { CriCalls } from '../cri/cri-calls.ts'
import type { Image, PodSandboxConfig } from '../cri/generated/runtime-v1.ts'
import { StartError } from '../model/start-error.ts'
import type { Logger } from '../telemetry/logger.ts'
import { inspectError, readImage } from './read-image.ts'
import type { WantedImage } from './read-image.ts'
import { toPullFailure } from './to-pull-failure.ts'
import { TokenBucket } from './token-bucket.ts'

export interface PullLimits {
  /** How many pulls run at the same time; 1 pulls one image after the other. */
  readonly maxParallel: number
  /** How many pulls may begin per second; 0 is no limit. */
  readonly perSecond: number
  readonly burst: number
}

export interface SharedPullsDeps {
  readonly calls: Pick<CriCalls, 'imageStatus' | 'pullImage'>
  readonly limits: PullLimits
  readonly clock: Clock
  readonly log: Logger
}

export interface PullRequest {
  readonly wanted: WantedImage
  readonly sandbox: PodSandboxConfig
  /** Of the pod: the more important pulls first when they queue. */
  readonly priority: number
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
  waiters: number
}

// A registry that hangs must not keep all other images out when few pulls may run at a time.
const PATIENCE_MS = 600_000
const PROGRESS_MS = 30_000

/**
 * Pulls each image once at a time however many pods wait for it. A pod that no longer waits does not end the pull for the others; the
 * last one does.
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
    const { image } = request.wanted
    const shared = this.#running.get(image) ?? this.#start(request)
    shared.waiters += 1
    try {
      return await waitFor(shared.result, signal)
    } finally {
      shared.waiters -= 1
      if (shared.waiters === 0) {
        this.#forget(image, shared)
        shared.cancel.abort(new Error(`Cannot go on pulling "${image}": no pod waits for it any more`))
      }
    }
  }

  #start(request: PullRequest): SharedPull {
    const { image } = request.wanted
    const cancel = new AbortController()
    const result = this.#run(request, cancel.signal).finally(() => this.#forget(image, shared))
    // When the last waiter leaves, nobody is left to hear how the pull ended.
    result.catch(() => {})
    const shared: SharedPull = { result, cancel, waiters: 0 }
    this.#running.set(image, shared)
    return shared
  }

  /** A new pull of the same image may have taken the place of one that was cancelled. */
  #forget(image: string, shared: SharedPull): void {
    if (this.#running.get(image) === shared) this.#running.delete(image)
  }

  async #run(request: PullRequest, signal: AbortSignal): Promise<PulledImage> {
    const { image } = request.wanted
    using progress = new AbortScope(signal)
    let stage = 'waiting for other pulls'
    // Ends by being aborted, which is no failure.
    this.#tellProgress(image, () => stage, progress.signal).catch(() => {})
    const pull = async () => {
      stage = 'pulling'
      return await this.#pullNow(request, signal)
    }
    return await this.#places.pass(request.priority, pull, signal)
  }

  async #pullNow({ wanted, sandbox }: PullRequest, signal: AbortSignal): Promise<PulledImage> {
    const { calls, clock } = this.#deps
    if (!this.#rate.take()) throw new StartError('ErrImagePull', 'pull QPS exceeded')
    const startedAt = clock.monotonic()
    const ref = await this.#callRuntime(wanted, sandbox, signal)
    const pullMs = clock.monotonic() - startedAt
    const image = await readImage(calls, wanted, signal)
    if (image === undefined) throw inspectError(wanted.image, 'it is not on the node although it was pulled')
    return { ref, image, pullMs }
  }

  async #callRuntime(wanted: WantedImage, sandboxConfig: PodSandboxConfig, signal: AbortSignal): Promise<string> {
    try {
      const { imageRef } = await this.#deps.calls.pullImage({ image: { ...wanted }, sandboxConfig }, signal)
      return imageRef
    } catch (error) {
      throw error instanceof CriCallError ? toPullFailure(wanted.image, error) : error
    }
  }

  /** Says every now and then that a long pull is still going on, until the signal ends it. */
  async #tellProgress(image: string, stage: () => string, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps
    const startedAt = clock.monotonic()
    for (;;) {
      await clock.sleep(PROGRESS_MS, signal)
      const elapsedSeconds = Math.round((clock.monotonic() - startedAt) / 1000)
      log.info('image not there yet', {
        image,
        stage: stage(),
        elapsedSeconds,
        waiters: this.#running.get(image)?.waiters,
      })
    }
  }
}

/** The result of a promise that goes on without us, or the signal's reason when that comes first. */
async function waitFor<T>(result: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([result, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
