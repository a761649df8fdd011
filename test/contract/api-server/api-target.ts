import { once } from 'node:events'
import { Agent, request } from 'node:https'
import type { IncomingMessage } from 'node:http'
import { issueCertificate } from '../../../src/protocols/x509/issue-certificate.ts'
import { createKeys, toKeyPem } from '../../../src/protocols/x509/certificate-files.ts'
import { openPki } from '../../../src/api-server/pki/open-pki.ts'
import type { Pki } from '../../../src/api-server/pki/open-pki.ts'
import { systemClock } from '../../../src/base/async/clock.ts'
import { silentLogger } from '../../../src/base/telemetry/silent-logger.ts'
import type { ContractUser } from './contract-case.ts'

/** One request as it goes over the wire. */
interface WireRequest {
  readonly user: ContractUser
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** For a watch: after so many lines the rest is left unread. */
  readonly lines?: number
}

export interface WireAnswer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly text: string
}

/** An API server that answers the cases. */
export interface ApiTarget extends AsyncDisposable {
  send(wire: WireRequest): Promise<WireAnswer>
}

const DAY_MS = 24 * 3_600_000
const DEADLINE_MS = 60_000

const identities: readonly (readonly [user: ContractUser, name: string, groups: readonly string[]])[] = [
  ['admin', 'contract-admin', ['system:masters']],
  ['node', 'system:node:node-1', ['system:nodes']],
  ['stranger', 'stranger', ['strangers']],
]

/** A client of an API server whose clients are certified by the authority in a folder. */
export async function connectTarget(server: string, pkiFolder: string): Promise<ApiTarget> {
  const pki = await openPki(pkiFolder, { clock: systemClock, log: silentLogger })
  const agents = new Map<ContractUser, Agent>([['anonymous', createAgent(pki, {})]])
  for (const [user, name, groups] of identities) agents.set(user, createAgent(pki, await certify(pki, name, groups)))
  return {
    send: (wire) => send(server, agents.get(wire.user), wire),
    async [Symbol.asyncDispose]() {
      for (const agent of agents.values()) agent.destroy()
    },
  }
}

function createAgent({ authority }: Pki, secrets: { readonly cert?: string; readonly key?: string }): Agent {
  return new Agent({ keepAlive: true, ca: authority.pem, ...secrets })
}

async function certify(pki: Pki, commonName: string, organizations: readonly string[]) {
  const { publicKey, privateKey } = createKeys()
  const content = { commonName, organizations, publicKey, names: [], usages: ['client'] as const, lifetimeMs: DAY_MS }
  return { cert: await issueCertificate(pki.authority, content, systemClock.now()), key: toKeyPem(privateKey) }
}

async function send(server: string, agent: Agent | undefined, wire: WireRequest): Promise<WireAnswer> {
  const { method, path, body } = wire
  // Node does not send it for every method by itself.
  const headers = { ...wire.headers, ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }) }
  const signal = AbortSignal.timeout(DEADLINE_MS)
  const sent = request(`${server}${path}`, { method, headers, signal, ...(agent && { agent }) })
  sent.end(body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const text = await readText(response, wire.lines)
  return { status: response.statusCode ?? 0, headers: response.headers, text }
}

async function readText(response: IncomingMessage, lines: number | undefined): Promise<string> {
  const isWatch = lines !== undefined && response.statusCode === 200
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) {
    text += String(chunk)
    // Leaving the loop ends the connection.
    if (isWatch && text.split('\n').length > lines) break
  }
  return isWatch ? text.split('\n').slice(0, lines).join('\n') : text
}
