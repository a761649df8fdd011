/** How many of a number of writes were made, and what stopped them. */
export interface BatchResult {
  readonly done: number
  readonly error: unknown
}

/** Runs the same work some times in batches of 1, 2, 4 … at once, and stops after the first batch with a failure: what fails for one mostly fails for all. */
export async function runInBatches(count: number, work: (index: number) => Promise<void>): Promise<BatchResult> {
  let done = 0
  for (let begin = 0, size = 1; begin < count; begin += size, size *= 2) {
    const indexes = Array.from({ length: Math.min(size, count - begin) }, (_, offset) => begin + offset)
    const results = await Promise.allSettled(indexes.map((index) => work(index)))
    const failed = results.find((result) => result.status === 'rejected')
    done += results.filter((result) => result.status === 'fulfilled').length
    if (failed !== undefined) return { done, error: failed.reason }
  }
  return { done, error: undefined }
}
