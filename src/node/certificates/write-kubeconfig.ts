import { basename, dirname } from 'node:path'
import type { Clock } from '../../base/async/clock.ts'
import { createRecordFolder } from '../../system/files/state/create-record-folder.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { SetAside } from './certificate-provider.ts'
import type { KubeconfigInfo } from './kubeconfig-info.ts'

export interface WriteKubeconfigDeps {
  readonly path: string
  readonly setAside: SetAside
  readonly clock: Clock
  readonly log: Logger
}

/** Writes the kubeconfig file of a node that was bootstrapped: the same cluster, and the certificate that a path always leads to. */
export async function writeKubeconfig(
  { path, setAside, clock, log }: WriteKubeconfigDeps,
  bootstrap: KubeconfigInfo,
  certificatePath: string,
): Promise<void> {
  const files = createRecordFolder(dirname(path))
  const text = toKubeconfigText(bootstrap, certificatePath)
  const present = await files.read(basename(path))
  if (present === text) return
  if (present !== undefined) {
    const suffix = `.old-${clock.now()}`
    await setAside([path], suffix)
    log.warn('a kubeconfig file that cannot be used was set aside', { setAside: `${path}${suffix}` })
  }
  await files.write(basename(path), text)
  log.info('wrote a kubeconfig file', { path, certificate: certificatePath })
}

/** Names and order are those of the Go kubelet. Texts are quoted as JSON, which YAML reads too. */
function toKubeconfigText(cluster: KubeconfigInfo, certificatePath: string): string {
  const path = JSON.stringify(certificatePath)
  const clusterLines = [
    ...authorityLines(cluster),
    ...(cluster.insecure ? ['insecure-skip-tls-verify: true'] : []),
    ...(cluster.proxy === undefined ? [] : [`proxy-url: ${toText(cluster.proxy)}`]),
    `server: ${toText(cluster.server)}`,
    ...(cluster.serverName === undefined ? [] : [`tls-server-name: ${JSON.stringify(cluster.serverName)}`]),
  ]
  return `apiVersion: v1
clusters:
- cluster:
${clusterLines.map((line) => `    ${line}\n`).join('')}  name: default-cluster
contexts:
- context:
    cluster: default-cluster
    namespace: default
    user: default-auth
  name: default-context
current-context: default-context
kind: Config
preferences: {}
users:
- name: default-auth
  user:
    client-certificate: ${path}
    client-key: ${path}
`
}

function authorityLines({ authority }: KubeconfigInfo): readonly string[] {
  if (authority === undefined) return []
  if (authority.kind === 'file') return [`certificate-authority: ${JSON.stringify(authority.path)}`]
  return [`certificate-authority-data: ${Buffer.from(authority.pem).toString('base64')}`]
}

function toText({ href }: URL): string {
  return JSON.stringify(href.replace(/\/$/, ''))
}
