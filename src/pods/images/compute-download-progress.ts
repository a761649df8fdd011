/** What is known of one part of an image. */
export interface DownloadedPart {
  readonly doneBytes: number
  readonly totalBytes: number
}

interface Download extends DownloadedPart {
  readonly ref: string
  readonly startedAt: number
}

/**
 * The parts of a pull after another report of what is downloaded. A part that was there and is not any more is complete. What began before
 * the pull belongs to another one. (Which of several pulls that run together a part belongs to, containerd does not report.)
 */
export function computeDownloadProgress(
  known: ReadonlyMap<string, DownloadedPart>,
  downloads: readonly Download[],
  pullStartedAt: number,
): ReadonlyMap<string, DownloadedPart> {
  const completed = [...known].map(([ref, { doneBytes, totalBytes }]) => {
    const bytes = Math.max(doneBytes, totalBytes)
    return [ref, { doneBytes: bytes, totalBytes: bytes }] as const
  })
  const running = downloads
    .filter(({ startedAt }) => startedAt >= pullStartedAt)
    .map(({ ref, doneBytes, totalBytes }) => [ref, { doneBytes, totalBytes }] as const)
  return new Map([...completed, ...running])
}

/** The sum of all parts; undefined when there are none. */
export function sumDownloads(parts: ReadonlyMap<string, DownloadedPart>): DownloadedPart | undefined {
  if (parts.size === 0) return undefined
  let [doneBytes, totalBytes] = [0, 0]
  for (const part of parts.values()) {
    doneBytes += part.doneBytes
    totalBytes += Math.max(part.doneBytes, part.totalBytes)
  }
  return { doneBytes, totalBytes }
}
