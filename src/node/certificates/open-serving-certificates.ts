import { FatalError } from '../../base/async/abort-errors.ts'
import { throwIfTransient } from '../../base/async/transient-errors.ts'
import type { Clock } from '../../base/async/clock.ts'
import type { KubeClient } from '../../protocols/kube-api/kube-client.ts'
import type { NodeAddress } from '../../model/generated/core-v1.ts'
import type { ApiReturn } from '../../protocols/kube-api/list-watch/api-return.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { errorMessage } from '../../base/telemetry/error-text.ts'
import type { CertificateMetrics, CertificateProvider, SetAside } from './certificate-provider.ts'
import { CertificateStore } from './certificate-store.ts'
import { CurrentCertificate, hasEnded } from './current-certificate.ts'
import { readCertificateFiles } from './read-certificate.ts'
import { runCertificateReload } from './run-certificate-reload.ts'
import { runCertificateRotation } from './run-certificate-rotation.ts'
import { createSelfSigned, ensureSelfSigned, selfSignedFiles } from './self-signed-certificate.ts'
import { toWantedNames } from './to-wanted-names.ts'
import { SERVING_SIGNER, wantedForNode } from './wanted-certificate.ts'
import type { KeyedCertificate } from '../../protocols/x509/certificate-files.ts'

export interface ServingCertificatesDeps {
  /** A hint: the API answers. */
  readonly apiReturn: ApiReturn
  readonly nodeName: string
  /** --cert-dir */
  readonly folder: string
  readonly tlsCertFile: string
  readonly tlsPrivateKeyFile: string
  readonly serverTLSBootstrap: boolean
  /** The gate ReloadKubeletServerCertificateFile. */
  readonly reloads: boolean
  /** The gate AllowDNSOnlyNodeCSR. */
  readonly allowsNamesOnly: boolean
  /** The addresses for a self-signed certificate. */
  readonly nodeIps: readonly string[]
  /** As they are in the status of the node; none before they are known. */
  readonly nodeAddresses: () => readonly NodeAddress[]
  /** Undefined on a node without a cluster. */
  readonly client: KubeClient | undefined
  readonly metrics: CertificateMetrics
  readonly setAside: SetAside
  readonly clock: Clock
  readonly random: () => number
  readonly log: Logger
}

/** The certificate that the agent's own API shows. */
export interface ServingCertificates extends CertificateProvider {
  /** Until the end of the certificate; without end when there is none. */
  ttlSeconds(): number
  /** Keeps it up to date. */
  run(signal: AbortSignal): Promise<void>
}

/** How often the addresses of the node are checked. */
const CHECK_EVERY_MS = 1000

/** The serving certificate that the configuration asks for: from files, signed by the cluster, or self-signed. */
export async function openServingCertificates(deps: ServingCertificatesDeps): Promise<ServingCertificates> {
  if (deps.serverTLSBootstrap) return await openRequested(deps)
  if (deps.tlsCertFile !== '' || deps.tlsPrivateKeyFile !== '') return await openFiles(deps)
  const files = selfSignedFiles(deps.folder)
  const selfSigned = { ...deps, addresses: deps.nodeIps }
  const load = async () => await ensureSelfSigned(selfSigned)
  const loadFirst = async () => {
    try {
      return await load()
    } catch (error) {
      throwIfTransient(error)
      deps.log.error('the serving certificate cannot be read, another one is shown until it can be', {
        ...files,
        error,
      })
      return await createSelfSigned(selfSigned)
    }
  }
  return await openReloaded(deps, files, { load, loadFirst })
}

async function openFiles(deps: ServingCertificatesDeps): Promise<ServingCertificates> {
  const files = { certificateFile: deps.tlsCertFile, keyFile: deps.tlsPrivateKeyFile }
  const load = async () => {
    const where = `"${files.certificateFile}" and "${files.keyFile}"`
    try {
      const loaded = await readCertificateFiles(files)
      if (loaded === undefined) throw new Error('expected both files to be there')
      return loaded
    } catch (error) {
      const why = errorMessage(error)
      throw new FatalError(`Cannot use the serving certificate of ${where}: ${why}`, { cause: error })
    }
  }
  return await openReloaded(deps, files, { load, loadFirst: load })
}

async function openReloaded(
  deps: ServingCertificatesDeps,
  files: { readonly certificateFile: string; readonly keyFile: string },
  {
    load,
    loadFirst,
  }: { readonly load: () => Promise<KeyedCertificate>; readonly loadFirst: () => Promise<KeyedCertificate> },
): Promise<ServingCertificates> {
  const current = new CurrentCertificate(deps.clock)
  current.replace(await loadFirst())
  return {
    // An expired one too: many clients do not check that.
    current: () => current.held,
    onChange: (listener) => current.onChange(listener),
    ttlSeconds: () => current.ttlSeconds(),
    async run(signal) {
      if (deps.reloads) await runCertificateReload({ ...deps, files, load, current }, signal)
    },
  }
}

async function openRequested(deps: ServingCertificatesDeps): Promise<ServingCertificates> {
  const { folder, setAside, clock, log, client } = deps
  const fallback =
    deps.tlsCertFile === '' ? undefined : { certificateFile: deps.tlsCertFile, keyFile: deps.tlsPrivateKeyFile }
  const store = new CertificateStore({ folder, prefix: 'kubelet-server', fallback, setAside, clock, log })
  const current = new CurrentCertificate(clock)
  const stored = await store.read()
  if (stored !== undefined && !hasEnded(stored, clock.now())) current.replace(stored)
  const wanted = () => {
    const names = toWantedNames(deps.nodeAddresses())
    const isEnough = names.addresses.length > 0 || (deps.allowsNamesOnly && names.dnsNames.length > 0)
    return isEnough ? { ...wantedForNode(deps.nodeName), ...names } : undefined
  }
  return {
    current: () => current.current(),
    onChange: (listener) => current.onChange(listener),
    ttlSeconds: () => current.ttlSeconds(),
    async run(signal) {
      if (client === undefined) return log.error('there is no cluster that could sign the serving certificate')
      const request = { signer: SERVING_SIGNER, connect: async () => client, wanted, checkEveryMs: CHECK_EVERY_MS }
      await runCertificateRotation(
        { ...deps, ...request, store, current, isTemporary: false, onAnswer: () => {} },
        signal,
      )
    },
  }
}
