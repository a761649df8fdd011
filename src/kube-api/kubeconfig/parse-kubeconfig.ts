import type { Segments } from '../../document/document-value.ts'
import { parseText, TextError } from '../../document/parse-text.ts'
import type { LocatedText } from '../../document/parse-text.ts'
import { parseProxyUrl } from '../transport/find-proxy.ts'
import { FieldReader } from './field-reader.ts'
import { KubeconfigError } from './kubeconfig.ts'
import type { Kubeconfig } from './kubeconfig.ts'
import { ANONYMOUS, parseKubeconfigUser } from './parse-kubeconfig-user.ts'
import { readPem } from './read-pem.ts'

/** The current context of a kubeconfig file. Paths in it are relative to the file. */
export function parseKubeconfig(bytes: Uint8Array, path: string): Kubeconfig {
  const root = readRoot(bytes, path)
  const context = find(root, 'contexts', 'context', root.text('current-context'), 'current-context')
  const cluster = find(root, 'clusters', 'cluster', context.text('cluster'), 'cluster of the current context')
  const userName = context.text('user')
  const user = userName === '' ? undefined : find(root, 'users', 'user', userName, 'user of the current context')
  const authority = readPem(cluster, 'certificate-authority', path)
  const insecure = cluster.flag('insecure-skip-tls-verify')
  if (insecure && authority !== undefined) {
    throw cluster.fault('insecure-skip-tls-verify', 'expected no certificate-authority beside it')
  }
  const proxy = cluster.text('proxy-url')
  return {
    path,
    server: parseServer(cluster, authority !== undefined || insecure),
    authority,
    insecure,
    serverName: cluster.text('tls-server-name') || undefined,
    proxy: proxy === '' ? undefined : parseProxyUrl(proxy, `proxy-url of "${path}"`),
    execConfig: readExecConfig(cluster),
    user: user === undefined ? ANONYMOUS : parseKubeconfigUser(user, path),
  }
}

function readRoot(bytes: Uint8Array, path: string): FieldReader {
  let text: LocatedText
  try {
    text = parseText(bytes)
  } catch (error) {
    if (!(error instanceof TextError)) throw error
    const { line, column } = error.place
    throw new KubeconfigError(`Cannot use kubeconfig "${path}": ${error.message} (line ${line}, column ${column})`, {
      cause: error,
    })
  }
  const tell = (segments: Segments, problem: string) => {
    const { line } = text.locate(segments)
    const field = segments.map((segment) => (typeof segment === 'number' ? `[${segment}]` : `.${segment}`)).join('')
    return new KubeconfigError(`Cannot use kubeconfig "${path}": ${field.slice(1)}: ${problem} (line ${line})`)
  }
  const root = new FieldReader(text.value, [], tell)
  const kind = root.text('kind')
  if (kind !== '' && kind !== 'Config') throw root.fault('kind', 'expected Config')
  return root
}

/** The entry of that name in a list of named things. */
function find(root: FieldReader, list: string, part: string, name: string, wanted: string): FieldReader {
  if (name === '') throw root.fault('current-context', `${wanted} has no name, expected one of ${list}`)
  const entry = root.objects(list).find((each) => each.text('name') === name)
  if (entry === undefined) throw root.fault(list, `no entry "${name}", which is the ${wanted}`)
  return entry.object(part)
}

function parseServer(cluster: FieldReader, isSecure: boolean): URL {
  const text = cluster.text('server')
  if (text === '') throw cluster.fault('server', 'expected the URL of an API server')
  const url = URL.parse(text.includes('://') ? text : `${isSecure ? 'https' : 'http'}://${text}`)
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return url
  throw cluster.fault('server', 'expected a URL with https:// or http://')
}

function readExecConfig(cluster: FieldReader): unknown {
  const extension = cluster
    .objects('extensions')
    .find((each) => each.text('name') === 'client.authentication.k8s.io/exec')
  return extension?.value('extension') ?? undefined
}
