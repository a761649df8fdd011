import type { KeyObject } from 'node:crypto'
import type { Clock } from '../../base/async/clock.ts'
import { computeBackOff } from '../../base/async/back-off.ts'
import { KubeApiError, isNotFound } from '../../protocols/kube-api/kube-client.ts'
import type { KubeClient } from '../../protocols/kube-api/kube-client.ts'
import { isApiAway } from '../../protocols/kube-api/is-api-away.ts'
import type { ApiReturn } from '../../protocols/kube-api/list-watch/api-return.ts'
import { parseSigningRequestObject } from './signing-request-object.ts'
import type { SigningRequestObject } from './signing-request-object.ts'
import type { Signer } from './wanted-certificate.ts'

/** A certificate request without a result: it was denied, it failed, or it was deleted. */
class SigningError extends Error {
  override readonly name = 'SigningError'
}

export interface SigningRequest {
  readonly signer: Signer
  /** PKCS#10 in PEM form. */
  readonly requestPem: string
  /** A name by which the same request is found again after a restart; otherwise the server makes one up. */
  readonly known?: { readonly name: string; readonly publicKey: KeyObject }
}

const PATH = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
const RETRIES = { firstMs: 1000, longestMs: 30_000 }
/** A watch that silently died is started again after this. */
const WATCH_SECONDS = 300

/** Asks for a certificate. */
export async function submitSigningRequest(
  client: KubeClient,
  { signer, requestPem, known }: SigningRequest,
  signal: AbortSignal,
): Promise<SigningRequestObject> {
  const body = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: known === undefined ? { generateName: 'csr-' } : { name: known.name },
    spec: { request: Buffer.from(requestPem).toString('base64'), signerName: signer.name, usages: signer.usages },
  }
  try {
    return parseSigningRequestObject(await client.send({ method: 'POST', path: PATH, body }, signal))
  } catch (error) {
    if (known === undefined || !(error instanceof KubeApiError) || error.reason !== 'AlreadyExists') throw error
    return await findAgain(client, known, signal)
  }
}

async function findAgain(
  client: KubeClient,
  { name, publicKey }: NonNullable<SigningRequest['known']>,
  signal: AbortSignal,
): Promise<SigningRequestObject> {
  const object = await readRequest(client, name, signal)
  const der = Buffer.from(object.request.replaceAll(/-----[^-]+-----|\s/g, ''), 'base64')
  if (!der.includes(publicKey.export({ type: 'spki', format: 'der' }))) {
    throw new SigningError(`Cannot use the certificate request "${name}": it is there already, for another key`)
  }
  return object
}

/** Waits until a request is decided and signed; resolves to the certificate with its chain in PEM form. */
export async function waitForCertificate(
  deps: { readonly client: KubeClient; readonly clock: Clock; readonly apiReturn: ApiReturn },
  { name, uid }: Pick<SigningRequestObject, 'name' | 'uid'>,
  signal: AbortSignal,
): Promise<string> {
  const pauses = deps.apiReturn.pauses()
  for (let failures = 0; ;) {
    let isAway = false
    const began = deps.clock.monotonic()
    try {
      const certificate = await follow(deps.client, { name, uid }, signal)
      if (certificate !== undefined) return certificate
    } catch (error) {
      if (signal.aborted || error instanceof SigningError) throw error
      isAway = isApiAway(error)
    }
    // A server that ends watches as soon as they begin is not asked every second for an approval that may take days.
    failures = deps.clock.monotonic() - began > RETRIES.longestMs ? 0 : failures + 1
    const ms = computeBackOff(RETRIES, failures)
    await (isAway ? pauses.wait({ clock: deps.clock, ms }, signal) : deps.clock.sleep(ms, signal))
  }
}

/** Reads the request and watches it; undefined when the watch ended before anything was decided. */
async function follow(
  client: KubeClient,
  { name, uid }: Pick<SigningRequestObject, 'name' | 'uid'>,
  signal: AbortSignal,
): Promise<string | undefined> {
  const first = await readRequest(client, name, signal)
  const certificate = toCertificate(first, uid)
  if (certificate !== undefined) return certificate
  const query = {
    fieldSelector: `metadata.name=${name}`,
    resourceVersion: first.resourceVersion,
    timeoutSeconds: String(WATCH_SECONDS),
  }
  for await (const event of client.watch({ path: PATH, query }, signal)) {
    if (event.type === 'ERROR') return undefined
    if (event.type === 'BOOKMARK') continue
    if (event.type === 'DELETED') throw gone(name)
    const issued = toCertificate(parseSigningRequestObject(event.object), uid)
    if (issued !== undefined) return issued
  }
  return undefined
}

async function readRequest(client: KubeClient, name: string, signal: AbortSignal): Promise<SigningRequestObject> {
  try {
    const path = `${PATH}/${encodeURIComponent(name)}`
    return parseSigningRequestObject(await client.send({ method: 'GET', path }, signal))
  } catch (error) {
    throw isNotFound(error) ? gone(name) : error
  }
}

function toCertificate({ name, uid, outcome }: SigningRequestObject, expectedUid: string): string | undefined {
  if (uid !== expectedUid) throw gone(name)
  if (outcome.kind === 'rejected') {
    throw new SigningError(`Cannot get a certificate: the request "${name}" ${outcome.how}: ${outcome.message}`)
  }
  return outcome.kind === 'issued' ? outcome.certificatePem : undefined
}

function gone(name: string): SigningError {
  return new SigningError(`Cannot get a certificate: the request "${name}" was removed before it was signed`)
}
