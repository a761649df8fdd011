/** The result of work that goes on without us, or the signal's reason when that comes first. */
export async function waitForShared<T>(result: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(signal.reason)
  // A signal that has aborted already emits no event.
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([aborted.promise, result])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
