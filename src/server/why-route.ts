import type { Reply } from './run-http-server.ts'
import { plain } from './run-http-server.ts'

interface Explanation {
  readonly namespace: string
  readonly name: string
}

/** GET /why: what each pod is at and what was done for it; ?pod=NAME or ?pod=NAMESPACE/NAME for one of them. */
export function createWhyRoute(explain: () => readonly Explanation[]): (query: URLSearchParams) => Reply {
  return (query) => {
    const wanted = query.get('pod')
    const pods = explain().filter(
      ({ namespace, name }) => wanted === null || [name, `${namespace}/${name}`].includes(wanted),
    )
    if (wanted !== null && pods.length === 0) return plain(404, `no pod "${wanted}" here\n`)
    return { status: 200, type: 'application/json', body: `${JSON.stringify({ pods })}\n` }
  }
}
