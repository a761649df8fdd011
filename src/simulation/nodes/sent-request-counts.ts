import type { Transport, TransportRequest } from '../../protocols/kube-api/transport/transport.ts'

/** How many requests were sent, by kind: "PATCH pods/status", "WATCH nodes". */
export class SentRequestCounts {
  readonly #counts = new Map<string, number>()

  /** The same connections; what goes over them is counted. */
  count(transport: Transport): Transport {
    return {
      host: transport.host,
      closeAll: (why) => transport.closeAll(why),
      request: (request, signal) => {
        const kind = toRequestKind(request)
        this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1)
        return transport.request(request, signal)
      },
    }
  }

  /** Since the start, the most frequent first. */
  all(): ReadonlyMap<string, number> {
    return new Map([...this.#counts].sort(([, a], [, b]) => b - a))
  }
}

/** The verb and the resource of a request, without names. */
export function toRequestKind({
  method,
  target,
  isWatch,
}: Pick<TransportRequest, 'method' | 'target' | 'isWatch'>): string {
  const [route = ''] = target.split('?')
  const parts = route.split('/').filter((part) => part !== '')
  const inGroup = parts[0] === 'api' ? parts.slice(2) : parts.slice(3)
  const isInNamespace = inGroup[0] === 'namespaces' && inGroup.length > 2
  const [resource = route, name, subresource] = isInNamespace ? inGroup.slice(2) : inGroup
  const verb = method !== 'GET' ? method : isWatch ? 'WATCH' : name === undefined ? 'LIST' : 'GET'
  return `${verb} ${subresource === undefined ? resource : `${resource}/${subresource}`}`
}
