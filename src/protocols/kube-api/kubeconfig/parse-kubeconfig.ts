import { parseProxyUrl } from '../transport/find-proxy.ts'
import type { FieldReader } from './field-reader.ts'
import type { Kubeconfig } from './kubeconfig.ts'
import type { KubeconfigParts } from './open-kubeconfig.ts'
import { NO_CREDENTIALS, parseKubeconfigUser } from './parse-kubeconfig-user.ts'
import { readPem } from './read-pem.ts'

/** The current context of a kubeconfig file. Paths in it are relative to the file. */
export function parseKubeconfig({ path, cluster, user }: KubeconfigParts): Kubeconfig {
  const authority = readPem(cluster, 'certificate-authority', path)
  const insecure = cluster.flag('insecure-skip-tls-verify')
  if (insecure && authority !== undefined) {
    throw cluster.fault('insecure-skip-tls-verify', 'expected no certificate-authority beside it')
  }
  const proxy = cluster.text('proxy-url')
  const who = user === undefined ? NO_CREDENTIALS : parseKubeconfigUser(user, path)
  const isKnown = who.certificate !== undefined || who.login.kind !== 'none'
  return {
    path,
    server: parseServer(cluster, { isSecure: authority !== undefined || insecure, isKnown }),
    authority,
    insecure,
    serverName: cluster.text('tls-server-name') || undefined,
    proxy: proxy === '' ? undefined : parseProxyUrl(proxy, `proxy-url of "${path}"`),
    execConfig: readExecConfig(cluster),
    user: who,
  }
}

/** An address without a scheme is as good as one with it, unless that would expose secrets on the network. */
function parseServer(
  cluster: FieldReader,
  { isSecure, isKnown }: { readonly isSecure: boolean; readonly isKnown: boolean },
): URL {
  const text = cluster.text('server')
  const fault = (problem: string) => cluster.fault('server', problem)
  if (text === '') throw fault('expected the URL of an API server')
  const hasScheme = text.includes('://')
  if (!hasScheme && isKnown && !isSecure) throw fault('expected https:// or http:// before it')
  if (!hasScheme && text.includes('/')) throw fault('expected https:// or http:// before it, as it has a path')
  const url = URL.parse(hasScheme ? text : `${isSecure ? 'https' : 'http'}://${text}`)
  if ((url?.protocol !== 'https:' && url?.protocol !== 'http:') || /^\w+:\/\/\//.test(text)) {
    throw fault('expected a URL with https:// or http:// and a host')
  }
  if (url.username !== '' || url.password !== '') throw fault('expected no user in the URL, but in users')
  return url
}

function readExecConfig(cluster: FieldReader): unknown {
  const extension = cluster
    .objects('extensions')
    .find((each) => each.text('name') === 'client.authentication.k8s.io/exec')
  return extension?.value('extension') ?? undefined
}
