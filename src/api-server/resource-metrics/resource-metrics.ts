import type { Clock } from '../../base/async/clock.ts'
import { waitForShared } from '../../base/async/wait-for-shared.ts'
import { ApiError } from '../api-error.ts'
import type { Backends } from '../backends/create-backends.ts'
import { passRequest } from '../backends/pass-request.ts'
import { parseSamples } from './parse-samples.ts'
import { UsageMeter } from './usage-meter.ts'
import { errorMessage } from '../../base/telemetry/error-text.ts'

export interface ResourceMetricsDeps {
  readonly backends: Pick<Backends, 'kubelet'>
  readonly clock: Clock
}

interface Reader {
  readonly meter: UsageMeter
  reading: Promise<void> | undefined
  readAt: number
}

const PATH = '/metrics/resource'
const MAX_BYTES = 16 * 1024 * 1024
// A second request within this time gets the same answer.
const FRESH_MS = 1000
// A first usage needs two readings, and the kubelet has to measure again for the second. Timers may fire a moment early: the first is not fresh any more.
const SECOND_READING_MS = FRESH_MS + 100
const CHECK_AGAIN = { 'cache-control': 'max-age=0' }

/** Reads what pods and nodes use from their kubelets, when a client asks. */
export class ResourceMetrics {
  readonly #deps: ResourceMetricsDeps
  readonly #readers = new Map<string, Reader>()

  constructor(deps: ResourceMetricsDeps) {
    this.#deps = deps
  }

  /** The usage on a node as of now. Throws ServiceUnavailable when its kubelet does not report it. */
  async measure(node: string, signal: AbortSignal): Promise<UsageMeter> {
    const reader = this.#readers.getOrInsertComputed(node, () => ({
      meter: new UsageMeter(),
      reading: undefined,
      readAt: Number.NEGATIVE_INFINITY,
    }))
    await this.#readFresh(node, reader, signal)
    // At the first question, at the first after a pause, and of a pod that has just come.
    if (!reader.meter.isComplete()) {
      await this.#deps.clock.sleep(SECOND_READING_MS, signal)
      await this.#readFresh(node, reader, signal)
    }
    return reader.meter
  }

  /** Forgets nodes that are gone. */
  keepOnly(nodes: readonly string[]): void {
    for (const node of this.#readers.keys()) if (!nodes.includes(node)) this.#readers.delete(node)
  }

  async #readFresh(node: string, reader: Reader, signal: AbortSignal): Promise<void> {
    if (this.#deps.clock.monotonic() - reader.readAt < FRESH_MS) return
    reader.reading ??= this.#read(node, reader).finally(() => {
      reader.reading = undefined
    })
    await waitForShared(reader.reading, signal)
  }

  async #read(node: string, reader: Reader): Promise<void> {
    // It is for all who ask, so it does not end with one of them; connecting has its own deadline.
    const { signal } = new AbortController()
    const { clock, backends } = this.#deps
    try {
      const answer = await passRequest(backends.kubelet(node, PATH), { method: 'GET', headers: CHECK_AGAIN }, signal)
      const text = await readText(answer.body)
      if (answer.status !== 200) throw new Error(`it answered ${answer.status} ${text.slice(0, 200)}`)
      reader.meter.add(parseSamples(text), clock.now())
      reader.readAt = clock.monotonic()
    } catch (error) {
      const message = `the kubelet of node "${node}" does not report usage: ${errorMessage(error)}`
      throw new ApiError({ code: 503, reason: 'ServiceUnavailable', message }, { cause: error })
    }
  }
}

async function readText(body: string | AsyncIterable<string | Uint8Array>): Promise<string> {
  if (typeof body === 'string') return body
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of body) {
    const bytes = Buffer.from(chunk)
    length += bytes.length
    if (length > MAX_BYTES) throw new Error(`its answer has more than ${MAX_BYTES} bytes`)
    chunks.push(bytes)
  }
  return Buffer.concat(chunks).toString('utf8')
}
