import { useEffect, useState } from 'preact/hooks'

/** What the address asks for. */
type Place =
  | { readonly screen: 'node' }
  | { readonly screen: 'storage' }
  | { readonly screen: 'pod'; readonly namespace: string; readonly name: string; readonly part: PodPart }
  | { readonly screen: 'unknown' }

export const STORAGE_PATH = '/storage'

/** The terminal is the last: whether it is there is known later than the others. */
export const POD_PARTS = ['overview', 'logs', 'yaml', 'terminal'] as const
export type PodPart = (typeof POD_PARTS)[number]

function parsePlace(path: string): Place {
  if (path === '/') return { screen: 'node' }
  if (path === STORAGE_PATH) return { screen: 'storage' }
  const [, first, namespace = '', name = '', last = 'overview', ...rest] = path.split('/').map(decode)
  const part = POD_PARTS.find((each) => each === last)
  if (first !== 'pods' || namespace === '' || name === '' || part === undefined || rest.length > 0)
    return { screen: 'unknown' }
  return { screen: 'pod', namespace, name, part }
}

export function podPath(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  part: PodPart = 'overview',
): string {
  const path = `/pods/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`
  return part === 'overview' ? path : `${path}/${part}`
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}

export function navigate(path: string): void {
  history.pushState(null, '', path)
  dispatchEvent(new PopStateEvent('popstate'))
}

export function usePlace(): Place {
  const [place, setPlace] = useState(() => parsePlace(location.pathname))
  useEffect(() => {
    const update = () => setPlace(parsePlace(location.pathname))
    addEventListener('popstate', update)
    return () => removeEventListener('popstate', update)
  }, [])
  return place
}
