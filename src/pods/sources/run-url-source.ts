import type { Clock } from '../../base/async/clock.ts'
import { withDeadline } from '../../base/async/deadline.ts'
import type { Pod } from '../../model/pod/pod.ts'
import type { DecodedManifest } from '../../model/schema/decode-pods.ts'
import { ManifestError, formatManifestProblem } from '../../model/schema/manifest-error.ts'
import { MAX_MANIFEST_BYTES } from '../../model/schema/parse-manifest.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { fetchUrl, publicUrl } from './fetch-url.ts'
import type { HeaderMap } from './fetch-url.ts'

/** What the URL source needs. */
export interface UrlSourceDeps {
  readonly url: string
  readonly headers: HeaderMap
  readonly checkFrequencyMs: number
  readonly decode: (bytes: Uint8Array) => DecodedManifest
  readonly clock: Clock
  readonly logger: Logger
  /** Called when there is no usable answer. */
  readonly onRefused?: () => void
  /** Takes the complete set, whenever the answer changed. */
  readonly emit: (pods: readonly Pod[]) => void
}

const TIMEOUT_MS = 10_000
// A server that is down is news a few times, not every 20 seconds.
const LOUD_FAILURES = 3

/** Asks a URL for a Pod or PodList again and again. While it fails or answers nonsense, the last good pods stay. */
export async function runUrlSource(deps: UrlSourceDeps, signal: AbortSignal): Promise<void> {
  const source = new UrlSource(deps)
  try {
    for (;;) {
      await source.check(signal)
      await deps.clock.sleep(deps.checkFrequencyMs, signal)
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

class UrlSource {
  readonly #deps: UrlSourceDeps
  readonly #shownUrl: string
  #last: Uint8Array | undefined
  #failures = 0

  constructor(deps: UrlSourceDeps) {
    this.#deps = deps
    this.#shownUrl = publicUrl(deps.url)
  }

  async check(signal: AbortSignal): Promise<void> {
    const { clock, url, headers } = this.#deps
    try {
      const options = { headers, maxBytes: MAX_MANIFEST_BYTES }
      const deadline = { clock, ms: TIMEOUT_MS, what: `the request to "${this.#shownUrl}"` }
      this.#take(await withDeadline(deadline, (inner) => fetchUrl(url, options, inner), signal))
      this.#failures = 0
    } catch (error) {
      signal.throwIfAborted()
      this.#logFailure(error as Error)
    }
  }

  #take(body: Uint8Array): void {
    const { decode, emit, logger } = this.#deps
    const url = this.#shownUrl
    if (this.#last !== undefined && Buffer.compare(this.#last, body) === 0) return
    this.#last = body
    if (body.length === 0) {
      emit([])
      throw new Error(`Cannot take pods from "${url}": the answer is empty`)
    }
    const { pods, warnings } = decode(body)
    for (const { line, column, path, rule } of warnings) {
      logger.warn('manifest has a field that is not used', { url, line, column, field: path, reason: rule })
    }
    emit(pods)
  }

  #logFailure(error: Error): void {
    const { logger } = this.#deps
    this.#failures++
    this.#deps.onRefused?.()
    const reason =
      error instanceof ManifestError ? error.problems.slice(0, 10).map(formatManifestProblem) : error.message
    const fields = { url: this.#shownUrl, reason, failures: this.#failures }
    if (this.#failures <= LOUD_FAILURES) logger.warn('cannot take pods from the URL', fields)
    else if (this.#failures === LOUD_FAILURES + 1) {
      logger.warn('cannot take pods from the URL, further failures are logged at verbosity 4', fields)
    } else logger.debug('cannot take pods from the URL', fields)
  }
}
