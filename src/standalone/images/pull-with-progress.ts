import type { Clock } from '../../base/async/clock.ts'
import { errorMessage } from '../../base/telemetry/error-text.ts'
import { computeDownloadProgress, sumDownloads } from '../../pods/images/compute-download-progress.ts'
import type { DownloadedPart } from '../../pods/images/compute-download-progress.ts'
import { exitCodes, NodeError } from '../node/node-error.ts'
import type { RuntimeImageCalls } from './runtime-image-calls.ts'

export interface PullDeps {
  readonly calls: Pick<RuntimeImageCalls, 'pullImage' | 'containerdDownloads'>
  readonly clock: Clock
  /** Logins of the node that may open the image's registry. */
  readonly findLogins: (image: string) => Promise<readonly { readonly username: string; readonly password: string }[]>
  readonly onProgress: (doneBytes: number | undefined, totalBytes: number | undefined) => void
}

const PROGRESS_MS = 500

/** Pulls an image with the first login of the node that works. */
export async function pullWithProgress(deps: PullDeps, image: string, signal: AbortSignal): Promise<void> {
  const logins = await deps.findLogins(image)
  const end = new AbortController()
  const progress = showProgress(deps, AbortSignal.any([signal, end.signal]))
  const failures: string[] = []
  try {
    for (const auth of logins.length === 0 ? [undefined] : logins) {
      try {
        await deps.calls.pullImage({ image: { image, annotations: {} }, auth }, signal)
        return
      } catch (error) {
        signal.throwIfAborted()
        failures.push(errorMessage(error))
      }
    }
  } finally {
    end.abort()
    await progress
  }
  throw new NodeError(`Cannot pull "${image}": ${[...new Set(failures)].join('; ')}`, exitCodes.failed)
}

async function showProgress({ calls, clock, onProgress }: PullDeps, signal: AbortSignal): Promise<void> {
  const startedAt = clock.now()
  let parts: ReadonlyMap<string, DownloadedPart> = new Map()
  while (!signal.aborted) {
    // A runtime that does not report downloads still works on it.
    const downloads = await calls.containerdDownloads(signal).catch(() => [])
    parts = computeDownloadProgress(parts, downloads, startedAt)
    const sum = sumDownloads(parts)
    onProgress(sum?.doneBytes, sum?.totalBytes)
    await clock.sleep(PROGRESS_MS, signal).catch(() => undefined)
  }
}
