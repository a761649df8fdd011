// The logger itself, and whatever wraps it.
const DEPTH = 8

/** The file from which the file with this URL was called; empty when that cannot be said. */
export function findCaller(ownUrl: string): string {
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = DEPTH
  const { stack = '' } = new Error('where are we?')
  Error.stackTraceLimit = limit
  const files = [...stack.matchAll(/(file:\/\/[^\s)]+?):\d+:\d+/g)].map(([, url = '']) => url)
  const own = files.lastIndexOf(ownUrl)
  return own === -1 ? '' : decodeURI(files[own + 1] ?? '').replace('file://', '')
}
