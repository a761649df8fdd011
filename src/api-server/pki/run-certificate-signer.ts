import type { Clock } from '../../base/async/clock.ts'
import { Wakeup } from '../../base/async/wakeup.ts'
import type { CertificateSigningRequest, CertificateSigningRequestCondition } from '../../model/generated/api-groups.ts'
import type { Node } from '../../model/generated/core-v1.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { ObjectOf } from '../store/api-object.ts'
import {
  CLIENT_SIGNER,
  computeRequestFault,
  computeSigningDecision,
  SERVING_SIGNER,
} from './compute-signing-decision.ts'
import { issueCertificate } from '../../protocols/x509/issue-certificate.ts'
import type { Authority } from '../../protocols/x509/issue-certificate.ts'
import { normalizeName } from '../../protocols/x509/normalize-name.ts'
import { parseSigningRequest } from './parse-signing-request.ts'
import type { ParsedRequest } from './parse-signing-request.ts'
import { toError } from '../../base/telemetry/error-text.ts'

/** The certificate requests of the API, and the nodes that they are for. */
export interface SigningRequests {
  list(): readonly ObjectOf<CertificateSigningRequest>[]
  findNode(name: string): Node | undefined
  /** Calls back after each change of either, until the result is called. */
  onChange(wake: () => void): () => void
  writeApproval(request: ObjectOf<CertificateSigningRequest>): Promise<void>
  writeStatus(request: ObjectOf<CertificateSigningRequest>): Promise<void>
  remove(name: string): Promise<void>
}

export interface SignerDeps {
  readonly requests: SigningRequests
  readonly authority: Authority
  /** The node that this API is for. */
  readonly nodeName: string
  /** Whether that node has got a credential from the API itself. */
  readonly hasCredential: boolean
  readonly clock: Clock
  readonly log: Logger
}

type SigningRequest = ObjectOf<CertificateSigningRequest>

const SIGNERS = [CLIENT_SIGNER, SERVING_SIGNER]
const CHECK_EVERY_MS = 60_000
const YEAR_SECONDS = 365 * 24 * 3600
const SHORTEST_SECONDS = 600
// Parity: the times of the controller that cleans up after signers.
const DECIDED_MS = 3_600_000
const PENDING_MS = 24 * 3_600_000

/** Approves or denies certificate requests of kubelets, signs what is approved, and removes requests that are old. */
export async function runCertificateSigner(deps: SignerDeps, signal: AbortSignal): Promise<void> {
  const wakeup = new Wakeup()
  const reported = new Set<string>()
  const stop = deps.requests.onChange(() => wakeup.wake())
  try {
    for (;;) {
      for (const request of deps.requests.list()) {
        try {
          await handleRequest(deps, request, reported)
        } catch (error) {
          deps.log.error('cannot handle a certificate request, will try again', {
            request: request.metadata.name,
            error,
          })
        }
        signal.throwIfAborted()
      }
      const names = new Set(deps.requests.list().map(({ metadata }) => metadata.name ?? ''))
      for (const name of reported) if (!names.has(name)) reported.delete(name)
      await wakeup.wait({ clock: deps.clock, ms: CHECK_EVERY_MS }, signal)
    }
  } finally {
    stop()
  }
}

async function handleRequest(deps: SignerDeps, request: SigningRequest, reported: Set<string>): Promise<void> {
  const has = (type: string) => request.status?.conditions?.some((each) => each.type === type) === true
  const isDone = has('Denied') || has('Failed') || Boolean(request.status?.certificate)
  const age = deps.clock.now() - Date.parse(request.metadata.creationTimestamp ?? '')
  if (age > (isDone ? DECIDED_MS : PENDING_MS)) return await deps.requests.remove(request.metadata.name ?? '')
  if (isDone || !SIGNERS.includes(request.spec.signerName)) return
  await (has('Approved') ? sign(deps, request) : decide(deps, request, reported))
}

async function decide(deps: SignerDeps, request: SigningRequest, reported: Set<string>): Promise<void> {
  const { signerName, usages = [], username = '', groups = [] } = request.spec
  const requested = await parse(request)
  if (requested instanceof Error) return await fail(deps, request, requested.message)
  const nodeAddresses = findAddresses(deps, requested)
  const { nodeName, hasCredential, log } = deps
  const decision = computeSigningDecision({
    signerName,
    usages,
    userName: username,
    groups,
    requested,
    nodeAddresses,
    nodeName,
    hasCredential,
  })
  if (decision.kind === 'wait') {
    const { name = '' } = request.metadata
    if (decision.message === undefined || reported.has(name)) return
    reported.add(name)
    log.warn('a certificate request waits for an administrator', {
      request: name,
      user: username,
      why: decision.message,
    })
    return
  }
  const { kind, reason, message } = decision
  const approved: SigningRequest = withCondition(request, {
    type: kind === 'approve' ? 'Approved' : 'Denied',
    status: 'True',
    reason,
    message,
  })
  await deps.requests.writeApproval(approved)
  log.info('decided about a certificate request', { request: request.metadata.name, user: username, kind, message })
}

async function sign(deps: SignerDeps, request: SigningRequest): Promise<void> {
  const { signerName, usages = [], expirationSeconds = YEAR_SECONDS } = request.spec
  const parsed = await parse(request)
  if (parsed instanceof Error) return await fail(deps, request, parsed.message)
  const fault = computeRequestFault({ signerName, usages, requested: parsed })
  if (fault !== undefined) return await fail(deps, request, fault)
  const seconds = Math.max(SHORTEST_SECONDS, Math.min(expirationSeconds, YEAR_SECONDS))
  const pem = await issueCertificate(
    deps.authority,
    {
      commonName: parsed.commonName ?? '',
      organizations: parsed.organizations,
      publicKey: parsed.publicKey,
      names: [...parsed.dnsNames, ...parsed.addresses],
      usages: [signerName === CLIENT_SIGNER ? 'client' : 'server'],
      isForEncipherment: usages.includes('key encipherment'),
      lifetimeMs: seconds * 1000,
    },
    deps.clock.now(),
  )
  await deps.requests.writeStatus({
    ...request,
    status: { ...request.status, certificate: Buffer.from(pem).toString('base64') },
  })
  deps.log.info('signed a certificate', { request: request.metadata.name, for: parsed.commonName, signerName, seconds })
}

/** The request cannot be signed, even when it is approved; its status says so. */
async function fail(deps: SignerDeps, request: SigningRequest, message: string): Promise<void> {
  await deps.requests.writeStatus(
    withCondition(request, {
      type: 'Failed',
      status: 'True',
      reason: 'SignerValidationFailure',
      message: `Cannot sign: ${message}`,
    }),
  )
  deps.log.warn('a certificate request cannot be signed', { request: request.metadata.name, message })
}

function withCondition(request: SigningRequest, condition: CertificateSigningRequestCondition): SigningRequest {
  return { ...request, status: { ...request.status, conditions: [...(request.status?.conditions ?? []), condition] } }
}

async function parse({ spec }: SigningRequest): Promise<ParsedRequest | Error> {
  try {
    return await parseSigningRequest(Buffer.from(spec.request, 'base64').toString('latin1'))
  } catch (error) {
    return toError(error)
  }
}

function findAddresses({ requests }: SignerDeps, { commonName = '' }: ParsedRequest): readonly string[] | undefined {
  const node = requests.findNode(commonName.replace(/^system:node:/, ''))
  return node && (node.status?.addresses ?? []).map(({ address }) => normalizeName(address))
}
