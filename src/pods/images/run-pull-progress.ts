import type { Clock } from '../../base/async/clock.ts'
import { withDeadline } from '../../base/async/deadline.ts'
import type { Download } from '../../protocols/cri/containerd/containerd-downloads.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { computeDownloadProgress, sumDownloads } from './compute-download-progress.ts'
import type { DownloadedPart } from './compute-download-progress.ts'
import { formatDuration } from './format-duration.ts'

export interface PullProgressDeps {
  /** What the runtime downloads now; fails where it does not report that. */
  readonly downloads: (signal: AbortSignal) => Promise<readonly Download[]>
  readonly clock: Clock
  readonly log: Logger
}

/** A pull as seen from outside. */
export interface ObservedPull {
  readonly image: string
  /** Waiting for a place, or pulling. */
  stage(): 'waiting' | 'pulling'
  waiters(): number
  /** Reports to the users of the pods that wait. */
  report(text: string): void
}

const INTERVAL_MS = 15_000
const ASK_LIMIT_MS = 3000
const MEBIBYTE = 2 ** 20

/** Says every now and then how far a long pull is, until the signal ends it. */
export async function runPullProgress(deps: PullProgressDeps, pull: ObservedPull, signal: AbortSignal): Promise<void> {
  const { clock, log } = deps
  const startedAt = clock.now()
  let parts: ReadonlyMap<string, DownloadedPart> = new Map()
  for (let elapsedMs = INTERVAL_MS; ; elapsedMs += INTERVAL_MS) {
    await clock.sleep(INTERVAL_MS, signal)
    const stage = pull.stage()
    if (stage === 'pulling') parts = computeDownloadProgress(parts, await ask(deps, signal), startedAt)
    const sum = sumDownloads(parts)
    const fields = { image: pull.image, stage, elapsedSeconds: elapsedMs / 1000, waiters: pull.waiters() }
    log.info('image not there yet', { ...fields, ...sum })
    if (stage === 'pulling') pull.report(toText(pull.image, elapsedMs, sum))
  }
}

/** A runtime that cannot report it, or not now, reports nothing. */
async function ask({ downloads, clock }: PullProgressDeps, signal: AbortSignal): Promise<readonly Download[]> {
  try {
    return await withDeadline({ clock, ms: ASK_LIMIT_MS, what: 'the check of downloads' }, downloads, signal)
  } catch {
    signal.throwIfAborted()
    return []
  }
}

function toText(image: string, elapsedMs: number, sum: DownloadedPart | undefined): string {
  const text = `Still pulling image ${JSON.stringify(image)} after ${formatDuration(elapsedMs)}`
  if (sum === undefined) return text
  const [done, total] = [sum.doneBytes, sum.totalBytes].map((bytes) => (bytes / MEBIBYTE).toFixed(1))
  return `${text}: ${done} of ${total} MiB downloaded so far`
}
