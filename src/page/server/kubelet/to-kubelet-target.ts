const POD = /^\/api\/v1\/namespaces\/([\w.-]+)\/pods\/([\w.-]+)\/(log|exec|portforward)$/

/** The names that a kubelet's own port has for the streams of a command. */
const STREAMS = { stdin: 'input', stdout: 'output', stderr: 'error', tty: 'tty' } as const

/** Where a kubelet's own port has what the Kubernetes API has at a target about logs and streams of a pod; undefined: nowhere. */
export function toKubeletTarget(target: string): string | undefined {
  const { pathname, searchParams } = new URL(target, 'http://kubelet.invalid')
  const [, namespace = '', pod = '', what] = POD.exec(pathname) ?? []
  if (what === undefined) return undefined
  if (what === 'portforward') return `/portForward/${namespace}/${pod}`
  const container = encodeURIComponent(searchParams.get('container') ?? '')
  searchParams.delete('container')
  if (what === 'log') return withQuery(`/containerLogs/${namespace}/${pod}/${container}`, searchParams)
  const query = new URLSearchParams()
  for (const [name, ownName] of Object.entries(STREAMS))
    if (searchParams.get(name) === 'true') query.append(ownName, '1')
  for (const word of searchParams.getAll('command')) query.append('command', word)
  return withQuery(`/exec/${namespace}/${pod}/${container}`, query)
}

function withQuery(path: string, query: URLSearchParams): string {
  return query.size === 0 ? path : `${path}?${query.toString()}`
}
