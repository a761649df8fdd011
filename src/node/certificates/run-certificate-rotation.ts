import { AbortScope } from '../../base/async/abort-scope.ts'
import type { Clock } from '../../base/async/clock.ts'
import { withDeadline } from '../../base/async/deadline.ts'
import { isApiAway } from '../../protocols/kube-api/is-api-away.ts'
import type { ApiReturn } from '../../protocols/kube-api/list-watch/api-return.ts'
import { KubeApiError } from '../../protocols/kube-api/kube-client.ts'
import type { KubeClient } from '../../protocols/kube-api/kube-client.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { CertificateMetrics } from './certificate-provider.ts'
import type { CertificateStore } from './certificate-store.ts'
import { computeLack, computeRetryDelay, computeRotationTime } from './compute-rotation.ts'
import type { CertificateInfo } from './compute-rotation.ts'
import { createSigningRequest } from './create-signing-request.ts'
import { hasEnded } from './current-certificate.ts'
import type { CurrentCertificate } from './current-certificate.ts'
import { submitSigningRequest, waitForCertificate } from './request-certificate.ts'
import { toCertificateInfo } from './to-certificate-info.ts'
import type { Signer, WantedCertificate } from './wanted-certificate.ts'
import { createKeys, parseKeyedCertificate, toKeyPem } from '../../protocols/x509/certificate-files.ts'
import type { KeyedCertificate } from '../../protocols/x509/certificate-files.ts'

export interface RotationDeps {
  readonly signer: Signer
  readonly store: CertificateStore
  readonly current: CurrentCertificate
  /** Undefined while it is not known. */
  readonly wanted: () => WantedCertificate | undefined
  /** How often that may change. */
  readonly checkEveryMs: number
  /** The client to ask with; it may be another one each time. Fails when there is none. */
  readonly connect: () => Promise<KubeClient>
  /** True for a first certificate that is only good until there is a better one. */
  readonly isTemporary: boolean
  /** Called after each request with whether a working server answered. */
  readonly onAnswer: (isServerThere: boolean) => void
  readonly apiReturn: ApiReturn
  readonly metrics: CertificateMetrics
  readonly clock: Clock
  readonly random: () => number
  readonly log: Logger
}

/** The wanted certificate changed during the request. */
class SupersededError extends Error {
  override readonly name = 'SupersededError'
}

const SIGNING_MS = 15 * 60_000

/**
 * Keeps a certificate: asks for one when there is none, when it is about to end, and when it is to be for other names. Not by a sleep
 * until its end: clocks are set.
 */
export async function runCertificateRotation(deps: RotationDeps, signal: AbortSignal): Promise<never> {
  const { current, clock, random, log } = deps
  const due = new RotationDue(deps)
  const pauses = deps.apiReturn.pauses()
  for (let failures = 0; ;) {
    const wanted = deps.wanted()
    const why = wanted === undefined ? undefined : due.find(wanted)
    if (wanted === undefined || why === undefined) {
      await clock.sleep(deps.checkEveryMs, signal)
      continue
    }
    try {
      log.info('asking for a certificate', { signer: deps.signer.name, why })
      const certificate = await renew(deps, wanted, signal)
      due.wasIssued(wanted)
      failures = 0
      current.replace(certificate)
      const until = certificate.certificate.validToDate.toISOString()
      log.info('got a certificate', { signer: deps.signer.name, until })
      await clock.sleep(deps.checkEveryMs, signal)
    } catch (error) {
      if (signal.aborted) throw error
      if (error instanceof SupersededError) continue
      failures += 1
      deps.metrics.renewError()
      log.error('cannot get a certificate, will try again', { signer: deps.signer.name, failures, error })
      using scope = new AbortScope(signal)
      const ms = computeRetryDelay(failures, random())
      const changed = waitUnlessChanged(deps, wanted, ms, scope.signal)
      // A signer that says no is not asked more often because the API answers others.
      await (isApiAway(error) ? Promise.race([changed, pauses.wait({ clock, ms }, scope.signal)]) : changed)
    }
  }
}

/** What is in a certificate, and when the next one is due. */
interface Term {
  readonly info: CertificateInfo
  readonly rotateAt: number
}

/** When the next certificate is due. */
class RotationDue {
  readonly #deps: RotationDeps
  #isTemporary: boolean
  /** Computed once for each: it is partly random, and parsing a certificate takes most of a millisecond. */
  #terms = new WeakMap<KeyedCertificate, Term>()
  /** What the certificate in use was asked for; a signer that leaves something out is not asked for it again and again. */
  #issuedFor: string | undefined

  constructor(deps: RotationDeps) {
    this.#deps = deps
    this.#isTemporary = deps.isTemporary
  }

  wasIssued(wanted: WantedCertificate): void {
    this.#isTemporary = false
    this.#issuedFor = JSON.stringify(wanted)
  }

  /** Why a certificate is due; undefined while none is. */
  find(wanted: WantedCertificate): string | undefined {
    const { held } = this.#deps.current
    if (held === undefined) return 'there is none'
    if (this.#isTemporary) return 'the one from the kubeconfig file is for the start only'
    const { info, rotateAt } = this.#terms.getOrInsertComputed(held, () => this.#readTerm(held))
    const lack = computeLack(info, wanted)
    if (lack !== undefined && this.#issuedFor !== JSON.stringify(wanted)) return lack
    if (this.#deps.clock.now() < rotateAt) return undefined
    return hasEnded(held, this.#deps.clock.now()) ? 'it has ended' : 'it ends soon'
  }

  #readTerm({ certificate }: KeyedCertificate): Term {
    const info = toCertificateInfo(certificate)
    return { info, rotateAt: computeRotationTime(info, this.#deps.random()) }
  }
}

async function renew(deps: RotationDeps, wanted: WantedCertificate, signal: AbortSignal): Promise<KeyedCertificate> {
  const { clock, current, store, metrics } = deps
  const keys = createKeys()
  const requestPem = await createSigningRequest(wanted, keys)
  const client = await deps.connect()
  const request = await submit(deps, client, requestPem, signal)
  const certificatePem = await withDeadline(
    { clock, ms: SIGNING_MS, what: `the wait for the certificate request "${request.name}"` },
    async (late) => await waitUnlessSuperseded({ ...deps, client }, { wanted, ...request }, late),
    signal,
  )
  const keyPem = toKeyPem(keys.privateKey)
  const issued = parseKeyedCertificate(certificatePem, keyPem)
  if (hasEnded(issued, clock.now())) {
    const end = issued.certificate.validToDate.toISOString()
    throw new Error(
      `Cannot use the certificate of request "${request.name}": it has ended at ${end}; is the clock right?`,
    )
  }
  const stored = await store.write(issued)
  deps.onAnswer(true)
  const before = current.held?.certificate.validFromDate.getTime()
  if (before !== undefined) metrics.rotated((clock.now() - before) / 1000)
  return stored
}

async function submit(deps: RotationDeps, client: KubeClient, requestPem: string, signal: AbortSignal) {
  try {
    return await submitSigningRequest(client, { signer: deps.signer, requestPem }, signal)
  } catch (error) {
    // What a server says to a stranger; anything else may come from something in between.
    deps.onAnswer(error instanceof KubeApiError && [401, 403, 404].includes(error.code))
    throw error
  }
}

async function waitUnlessSuperseded(
  deps: RotationDeps & { readonly client: KubeClient },
  request: { readonly wanted: WantedCertificate; readonly name: string; readonly uid: string },
  signal: AbortSignal,
): Promise<string> {
  using scope = new AbortScope(signal)
  const superseded = async () => {
    await waitUnlessChanged(deps, request.wanted, Infinity, scope.signal)
    throw new SupersededError(`Cannot use the certificate request "${request.name}": another one is needed`)
  }
  return await Promise.race([waitForCertificate(deps, request, scope.signal), superseded()])
}

/** Waits so long, or until another certificate is wanted. */
async function waitUnlessChanged(
  { clock, checkEveryMs, wanted }: Pick<RotationDeps, 'clock' | 'checkEveryMs' | 'wanted'>,
  before: WantedCertificate,
  ms: number,
  signal: AbortSignal,
): Promise<void> {
  const end = clock.monotonic() + ms
  for (let left = ms; left > 0; left = end - clock.monotonic()) {
    await clock.sleep(Math.min(left, checkEveryMs), signal)
    if (JSON.stringify(wanted()) !== JSON.stringify(before)) return
  }
}
