import { createHash, createPublicKey } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import type { Clock } from '../../base/async/clock.ts'
import { withDeadline } from '../../base/async/deadline.ts'
import { throwIfTransient } from '../../base/async/transient-errors.ts'
import { createRecordFolder } from '../../system/files/state/create-record-folder.ts'
import type { RecordFolder } from '../../system/files/state/create-record-folder.ts'
import { KubeApiError, KubeUnreachableError } from '../../protocols/kube-api/kube-client.ts'
import type { KubeClient } from '../../protocols/kube-api/kube-client.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { CertificateStore } from './certificate-store.ts'
import { createSigningRequest } from './create-signing-request.ts'
import { submitSigningRequest, waitForCertificate } from './request-certificate.ts'
import type { SigningRequest } from './request-certificate.ts'
import type { SigningRequestObject } from './signing-request-object.ts'
import { CLIENT_SIGNER, wantedForNode } from './wanted-certificate.ts'
import type { WantedCertificate } from './wanted-certificate.ts'
import { createKeys, parseKey, toKeyPem } from '../../protocols/x509/certificate-files.ts'
import type { ApiReturn } from '../../protocols/kube-api/list-watch/api-return.ts'

export interface BootstrapDeps {
  readonly apiReturn: ApiReturn
  /** With the credentials of the bootstrap. */
  readonly client: KubeClient
  readonly nodeName: string
  /** --cert-dir */
  readonly folder: string
  readonly store: CertificateStore
  readonly clock: Clock
  readonly log: Logger
}

/** Where the key waits for its certificate: after a restart the same request is found again. */
const KEY_FILE = 'kubelet-client.key.tmp'
const SERVER_MS = 60_000
const SERVER_RETRY_MS = 2000
const SIGNING_MS = 3600_000

/** Gets the first client certificate of a node and puts it into the store; waits until it is approved. */
export async function bootstrapClientCertificate(deps: BootstrapDeps, signal: AbortSignal): Promise<void> {
  const { clock, log, store } = deps
  const files = createRecordFolder(deps.folder)
  const privateKey = await openKey(files, log)
  const publicKey = createPublicKey(privateKey)
  const wanted = wantedForNode(deps.nodeName)
  const request: SigningRequest = {
    signer: CLIENT_SIGNER,
    requestPem: await createSigningRequest(wanted, { publicKey, privateKey }),
    known: { name: toRequestName(publicKey, wanted, CLIENT_SIGNER.usages), publicKey },
  }
  const submitted = await submitWhenReachable(deps, request, signal)
  log.info('waiting for the first client certificate', { request: submitted.name })
  const certificatePem = await withDeadline(
    { clock, ms: SIGNING_MS, what: `the wait for the certificate request "${submitted.name}"` },
    async (late) => await waitForCertificate(deps, submitted, late),
    signal,
  )
  await store.write({ certificatePem, keyPem: toKeyPem(privateKey) })
  await files.remove(KEY_FILE)
}

async function openKey(files: RecordFolder, log: Logger): Promise<KeyObject> {
  try {
    const text = await files.read(KEY_FILE)
    if (text !== undefined) return parseKey(text)
  } catch (error) {
    throwIfTransient(error)
    log.warn('a key that waited for its certificate is broken, a new one is made', { file: KEY_FILE, error })
  }
  const { privateKey } = createKeys()
  await files.write(KEY_FILE, toKeyPem(privateKey))
  return privateKey
}

/** A machine and its server may come up together: the server has a minute. */
async function submitWhenReachable(
  { client, clock, log }: BootstrapDeps,
  request: SigningRequest,
  signal: AbortSignal,
): Promise<SigningRequestObject> {
  const end = clock.monotonic() + SERVER_MS
  for (;;) {
    try {
      return await submitSigningRequest(client, request, signal)
    } catch (error) {
      const isAway = error instanceof KubeUnreachableError || (error instanceof KubeApiError && error.code >= 500)
      if (!isAway || clock.monotonic() >= end) throw error
      log.warn('the server cannot be reached yet', { error })
    }
    await clock.sleep(SERVER_RETRY_MS, signal)
  }
}

/** The same for the same request, and no other: as the Go kubelet makes it, which may have asked before us. */
function toRequestName(publicKey: KeyObject, wanted: WantedCertificate, usages: readonly string[]): string {
  const hash = createHash('sha512-256')
  const parts = [
    publicKey.export({ type: 'spki', format: 'der' }),
    wanted.commonName,
    ...wanted.organizations,
    ...usages,
  ]
  // No part can be taken for a piece of its neighbour: the separator is not in the alphabet.
  for (const part of parts) hash.update(`${Buffer.from(part as string).toString('base64url')}|`)
  return `node-csr-${hash.digest('base64url')}`
}
