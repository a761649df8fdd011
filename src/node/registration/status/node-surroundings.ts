import type { Clock } from '../../../base/async/clock.ts'
import { withDeadline } from '../../../base/async/deadline.ts'
import type { CriCalls } from '../../../protocols/cri/cri-calls.ts'
import { fetchRuntimeVersion } from '../../../protocols/cri/runtime-version.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import { FailureLog } from '../failure-log.ts'
import type { AddressInfo, ImageInfo } from './node-info.ts'
import { toRuntimeVersion } from './to-runtime-version.ts'

export interface NodeSurroundingsDeps {
  readonly calls: Pick<CriCalls, 'listImages' | 'version'>
  /** What the runtime said when the agent connected to it. */
  readonly runtime: { readonly name: string; readonly version: string }
  readonly readAddress: () => Promise<AddressInfo>
  /** The size of the file system that holds the root directory. */
  readonly readStorageBytes: () => Promise<bigint>
  readonly clock: Clock
  readonly log: Logger
}

interface Piece {
  readonly failures: FailureLog
  readonly everyMs: number
  readonly read: (signal: AbortSignal) => Promise<void>
  readAt: number | undefined
  reading: Promise<void> | undefined
}

const TICK_MS = 10_000
const RUNTIME_MS = 30_000
const PATIENCE_MS = 5000

/**
 * What the agent has to ask for to describe the node: host names, the disk, the runtime. Callers get the last known answers at once;
 * a source that does not answer delays no caller.
 */
export class NodeSurroundings {
  readonly #deps: NodeSurroundingsDeps
  readonly #pieces: readonly Piece[]
  readonly #addressSought = Promise.withResolvers<void>()
  #address: AddressInfo = { fault: undefined, found: undefined }
  #storageBytes: bigint | undefined
  #runtimeVersion: string
  #images: readonly ImageInfo[] = []

  constructor(deps: NodeSurroundingsDeps) {
    this.#deps = deps
    this.#runtimeVersion = toRuntimeVersion(deps.runtime)
    this.#pieces = [
      this.#piece('find the address of the node', 0, async () => {
        try {
          const { fault, found } = await deps.readAddress()
          // A name that is not known for a moment must not move the node to another address.
          this.#address = { fault, found: found ?? this.#address.found }
        } finally {
          this.#addressSought.resolve()
        }
      }),
      // Once: on some file systems it changes with every write.
      this.#piece('read the size of the disk', Infinity, async () => {
        this.#storageBytes = await deps.readStorageBytes()
      }),
      this.#piece('list the images of the runtime', RUNTIME_MS, async (signal) => {
        this.#images = (await deps.calls.listImages({}, signal)).images
      }),
      this.#piece('ask the runtime for its version', RUNTIME_MS, async (signal) => {
        this.#runtimeVersion = toRuntimeVersion(await fetchRuntimeVersion(deps.calls, signal))
      }),
    ]
  }

  get address(): AddressInfo {
    return this.#address
  }

  /** Resolves after the first lookup of the address, whether or not it found one. */
  get addressSought(): Promise<void> {
    return this.#addressSought.promise
  }

  get storageBytes(): bigint | undefined {
    return this.#storageBytes
  }

  get runtimeVersion(): string {
    return this.#runtimeVersion
  }

  get images(): readonly ImageInfo[] {
    return this.#images
  }

  /** Asks for all that is due; returns when the answers are there or are not to be waited for. */
  async refresh(signal: AbortSignal): Promise<void> {
    const now = this.#deps.clock.monotonic()
    await Promise.all(
      this.#pieces
        .filter(({ readAt, everyMs }) => readAt === undefined || now - readAt >= everyMs)
        .map((piece) => this.#read(piece, signal)),
    )
    signal.throwIfAborted()
  }

  async run(signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.#deps.clock.sleep(TICK_MS, signal)
      await this.refresh(signal)
    }
  }

  #piece(what: string, everyMs: number, read: Piece['read']): Piece {
    const failures = new FailureLog(this.#deps.log, what)
    return { failures, everyMs, read, readAt: undefined, reading: undefined }
  }

  /** What hangs is waited for a while and never begun again meanwhile: each would hold a thread of the process. */
  async #read(piece: Piece, signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps
    try {
      await withDeadline(
        { clock, ms: PATIENCE_MS, what: 'the question' },
        (scoped) => {
          piece.reading ??= piece.read(scoped).finally(() => (piece.reading = undefined))
          return piece.reading
        },
        signal,
      )
      piece.readAt = clock.monotonic()
      piece.failures.worked()
    } catch (error) {
      if (!signal.aborted) piece.failures.failed(error)
    }
  }
}
