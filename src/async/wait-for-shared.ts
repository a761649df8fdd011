/** The result of work that goes on without us, or the signal's reason when that comes first. */
export async function waitForShared<T>(result: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([result, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
