/** What is asked about a request: may the caller do this to one of these parts of the node? */
export interface NodeAccessQuestion {
  readonly verb: string
  /** One that is allowed is enough; asked in this order. */
  readonly subresources: readonly string[]
}

const VERBS: Readonly<Record<string, string>> = {
  GET: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
}

/** By the first part of the path. Everything else reaches into containers and needs the whole of the node's API. */
const SUBRESOURCES: Readonly<Record<string, readonly string[]>> = {
  pods: ['pods', 'proxy'],
  runningpods: ['pods', 'proxy'],
  healthz: ['healthz', 'proxy'],
  configz: ['configz', 'proxy'],
  stats: ['stats'],
  metrics: ['metrics'],
  logs: ['log'],
  checkpoint: ['checkpoint'],
  statusz: ['statusz'],
  flagz: ['configz'],
}

export function computeAccessQuestion(method: string, path: string): NodeAccessQuestion {
  const [, first = ''] = path.split('/')
  const subresources = Object.hasOwn(SUBRESOURCES, first) ? SUBRESOURCES[first] : undefined
  return { verb: VERBS[method] ?? '', subresources: subresources ?? ['proxy'] }
}
