import { getCACertificates } from 'node:tls'
import type { Clock } from '../../../base/async/clock.ts'
import type { TaskGroup } from '../../../base/async/task-group.ts'
import type { ProcessRequest, ProcessResult } from '../../../system/processes/run-process.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import type { OnHostResolved, CredentialPluginCall, PluginCertificate } from '../client-metrics.ts'
import type { Trust } from '../transport/connector.ts'
import { createTransport } from '../transport/create-transport.ts'
import type { CredentialsProvider } from '../transport/kube-credentials.ts'
import { findProxy } from '../transport/find-proxy.ts'
import type { UpgradeTransport } from '../transport/transport.ts'
import { createCredentials } from './create-credentials.ts'

import type { FileReader } from './kept-file.ts'
import type { Kubeconfig } from './kubeconfig.ts'
import type { EndedCertificate } from './report-ended-certificates.ts'

export interface ClusterTransportDeps {
  readonly config: Kubeconfig
  /** In place of those of the file's user. */
  readonly credentials?: CredentialsProvider
  readonly files: FileReader
  readonly run: (request: ProcessRequest, signal: AbortSignal) => Promise<ProcessResult>
  /** For proxies, DISABLE_HTTP2, and for programs that give credentials. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly onPluginCall?: (call: CredentialPluginCall) => void
  readonly onPluginCertificate?: (given: PluginCertificate) => void
  readonly onHostResolved?: OnHostResolved
  /** The client certificate of the file is shown although its time is over. */
  readonly onEnded?: (ended: EndedCertificate) => void
  readonly tasks: Pick<TaskGroup, 'run' | 'signal'>
  readonly clock: Clock
  readonly log: Logger
}

// All authorities of a machine are some hundred kilobytes.
const MAX_AUTHORITY_BYTES = 4 * 1024 * 1024

/** The connections to the cluster of a kubeconfig file. */
export function createClusterTransport(deps: ClusterTransportDeps): UpgradeTransport {
  const { config, environment, tasks } = deps
  const credentials =
    deps.credentials ??
    createCredentials(config.user, { ...deps, signal: tasks.signal, clusterInfo: () => describeCluster(deps) })
  return createTransport({
    ...deps,
    server: config.server,
    serverName: config.serverName,
    readTrust: () => readTrust(deps),
    proxy: config.proxy ?? findProxy(config.server, environment),
    credentials,
    http2: (environment['DISABLE_HTTP2'] ?? '') === '',
  })
}

/** Read for each connection: an authority is replaced in its file. */
async function readTrust({ config, files }: ClusterTransportDeps): Promise<Trust> {
  const { authority, insecure } = config
  if (insecure) return { kind: 'anyone' }
  if (authority === undefined) return { kind: 'machine', pems: getCACertificates('system') }
  if (authority.kind === 'data') return { kind: 'authorities', pem: authority.pem }
  const bytes = await files.readFile(authority.path, MAX_AUTHORITY_BYTES)
  return { kind: 'authorities', pem: Buffer.from(bytes).toString('utf8') }
}

/** As programs that give credentials want it. */
async function describeCluster(deps: ClusterTransportDeps): Promise<object> {
  const { server, serverName, insecure, proxy, execConfig } = deps.config
  const trust = await readTrust(deps)
  return {
    server: server.href.replace(/\/$/, ''),
    ...(serverName !== undefined && { 'tls-server-name': serverName }),
    ...(insecure && { 'insecure-skip-tls-verify': true }),
    ...(trust.kind === 'authorities' && { 'certificate-authority-data': Buffer.from(trust.pem).toString('base64') }),
    ...(proxy !== undefined && { 'proxy-url': proxy.href }),
    config: execConfig ?? null,
  }
}
