/** The target of a request, taken apart. */
interface Target {
  /** The parts of the path between slashes, decoded. */
  readonly segments: readonly string[]
  readonly query: URLSearchParams
}

/**
 * Takes the target of a request apart; undefined for one that could mean different things to different readers: an absolute address, an
 * empty part, a dot, an encoded slash. Authorization and routing must read the same path.
 */
export function parseTarget(url: string): Target | undefined {
  if (!url.startsWith('/')) return undefined
  const end = url.indexOf('?')
  const path = end === -1 ? url : url.slice(0, end)
  const parts = path.slice(1).split('/')
  if (parts.at(-1) === '') parts.pop()
  const segments = parts.map(decode)
  if (!segments.every(isPlain)) return undefined
  return { segments, query: new URLSearchParams(end === -1 ? '' : url.slice(end + 1)) }
}

function decode(part: string): string | undefined {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}

function isPlain(segment: string | undefined): segment is string {
  return segment !== undefined && !['', '.', '..'].includes(segment) && !/[/\0]/.test(segment)
}
