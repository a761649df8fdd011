import type { Clock } from '../../base/async/clock.ts'
import { throwIfTransient } from '../../base/async/transient-errors.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import type { KubeClient } from '../../protocols/kube-api/kube-client.ts'
import type { ApiReturn } from '../../protocols/kube-api/list-watch/api-return.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { bootstrapClientCertificate } from './bootstrap-client-certificate.ts'
import type { CertificateMetrics, CertificateProvider, SetAside } from './certificate-provider.ts'
import { CertificateStore } from './certificate-store.ts'
import { CurrentCertificate, hasEnded } from './current-certificate.ts'
import type { CertificateSource, KubeconfigInfo } from './kubeconfig-info.ts'
import { readCertificateSource } from './read-certificate.ts'
import type { CertificateFiles } from './read-certificate.ts'
import { runCertificateRotation } from './run-certificate-rotation.ts'
import { runExpiryWatch } from './run-expiry-watch.ts'
import { CLIENT_SIGNER, wantedForNode } from './wanted-certificate.ts'
import { writeKubeconfig } from './write-kubeconfig.ts'
import { parseCertificates } from '../../protocols/x509/certificate-files.ts'
import { errorMessage } from '../../base/telemetry/error-text.ts'

export interface ClientCertificatesDeps {
  /** A hint: the API answers. */
  readonly apiReturn: ApiReturn
  readonly nodeName: string
  /** --kubeconfig */
  readonly kubeconfigPath: string
  /** --bootstrap-kubeconfig; empty when there is none. */
  readonly bootstrapPath: string
  /** --cert-dir */
  readonly folder: string
  /** rotateCertificates */
  readonly rotates: boolean
  /** Fails when the file cannot be read or makes no sense. */
  readonly readKubeconfig: (path: string) => Promise<KubeconfigInfo>
  /**
   * A client for the cluster of a kubeconfig file: with the credentials of the file, or with these certificates and no other
   * credentials.
   */
  readonly connect: (path: string, certificates: CertificateProvider | undefined) => Promise<KubeClient>
  readonly giveUp: (error: Error) => void
  readonly metrics: CertificateMetrics
  readonly setAside: SetAside
  readonly clock: Clock
  readonly random: () => number
  readonly log: Logger
}

/** The client certificate of the node, which is renewed as long as this runs. */
export interface ClientCertificates extends CertificateProvider {
  /** Until the end of the certificate; without end when there is none. */
  ttlSeconds(): number
  run(signal: AbortSignal): Promise<void>
}

/** How often the certificate is checked for being due. */
const CHECK_EVERY_MS = 10_000

/**
 * Makes sure that there is a kubeconfig file to work with, with the help of the one for the bootstrap when it is needed. Resolves to the
 * certificates to show instead of what the file says; to undefined when the file is all there is (rotateCertificates is off).
 */
export async function openClientCertificates(
  deps: ClientCertificatesDeps,
  signal: AbortSignal,
): Promise<ClientCertificates | undefined> {
  const { folder, setAside, clock, log, bootstrapPath } = deps
  const storeDeps = { folder, prefix: 'kubelet-client', setAside, clock, log } as const
  // Before the kubeconfig file is read, which may point here: a broken certificate is replaced by an older one, if that is good.
  const ownStore = new CertificateStore(storeDeps)
  if (bootstrapPath !== '' || deps.rotates) await ownStore.read()
  const usable = await readUsable(deps)
  if (!deps.rotates) {
    if (usable === undefined) await bootstrapAndWait(deps, ownStore, signal)
    return undefined
  }
  const info = usable ?? (await writeBootstrapped(deps, ownStore))
  const { certificate } = info.user
  const store = new CertificateStore({ ...storeDeps, fallback: toFiles(certificate) })
  const current = new CurrentCertificate(clock)
  const isTemporary = await fill(deps, { store, current, certificate })
  return createClientCertificates(deps, { store, current, isTemporary })
}

/** What the kubeconfig file says, when it is good enough to work with; undefined when the bootstrap is needed. */
async function readUsable(deps: ClientCertificatesDeps): Promise<KubeconfigInfo | undefined> {
  const { kubeconfigPath, bootstrapPath, log, clock } = deps
  if (bootstrapPath === '') return await deps.readKubeconfig(kubeconfigPath)
  try {
    const info = await deps.readKubeconfig(kubeconfigPath)
    const fault = await findKubeconfigFault(info, clock.now())
    if (fault === undefined) return info
    log.info('the kubeconfig file cannot be used, bootstrapping', { path: kubeconfigPath, why: fault })
  } catch (error) {
    throwIfTransient(error)
    log.info('the kubeconfig file cannot be used, bootstrapping', { path: kubeconfigPath, error })
  }
  return undefined
}

async function writeBootstrapped(deps: ClientCertificatesDeps, store: CertificateStore): Promise<KubeconfigInfo> {
  const bootstrap = await deps.readKubeconfig(deps.bootstrapPath)
  await writeKubeconfig({ ...deps, path: deps.kubeconfigPath }, bootstrap, store.currentPath)
  const file = { kind: 'file', path: store.currentPath } as const
  return { ...bootstrap, user: { certificate: { certificate: file, key: file } } }
}

/** The file of a certificate; undefined when it is inside the kubeconfig file. */
function toFiles(source: CertificateSource | undefined): CertificateFiles | undefined {
  if (source?.certificate.kind !== 'file' || source.key.kind !== 'file') return undefined
  return { certificateFile: source.certificate.path, keyFile: source.key.path }
}

async function bootstrapAndWait(deps: ClientCertificatesDeps, store: CertificateStore, signal: AbortSignal) {
  // First, so that a mistake in it is reported before any request.
  const bootstrap = await deps.readKubeconfig(deps.bootstrapPath)
  const client = await deps.connect(deps.bootstrapPath, undefined)
  try {
    await bootstrapClientCertificate({ ...deps, client, store }, signal)
  } catch (error) {
    if (signal.aborted || bootstrap.user.certificate === undefined) throw error
    // The server answers an expired certificate with no more than "Unauthorized".
    const fault = await findKubeconfigFault(bootstrap, deps.clock.now())
    if (fault === undefined) throw error
    throw new Error(`Cannot bootstrap with "${deps.bootstrapPath}": ${fault}`, { cause: error })
  }
  await writeKubeconfig({ ...deps, path: deps.kubeconfigPath }, bootstrap, store.currentPath)
}

/** Finds the certificate to begin with. True when it is one from the kubeconfig file, which may be far too mighty to be kept. */
async function fill(
  { clock, log }: ClientCertificatesDeps,
  parts: {
    readonly store: CertificateStore
    readonly current: CurrentCertificate
    readonly certificate: CertificateSource | undefined
  },
): Promise<boolean> {
  const { store, current, certificate } = parts
  const stored = await store.read()
  if (stored !== undefined && !hasEnded(stored, clock.now())) {
    current.replace(stored)
    return false
  }
  if (certificate === undefined || toFiles(certificate) !== undefined) return false
  const own = await readCertificateSource(certificate)
  if (own === undefined || hasEnded(own, clock.now())) return false
  current.replace(await store.write(own))
  log.info('took the certificate of the kubeconfig file into the store', { path: store.currentPath })
  return true
}

function createClientCertificates(
  deps: ClientCertificatesDeps,
  {
    store,
    current,
    isTemporary,
  }: { readonly store: CertificateStore; readonly current: CurrentCertificate; readonly isTemporary: boolean },
): ClientCertificates {
  const { kubeconfigPath, bootstrapPath } = deps
  let isServerThere = false
  const connect = async () => {
    if (current.current() !== undefined) return await deps.connect(kubeconfigPath, current)
    return await deps.connect(bootstrapPath === '' ? kubeconfigPath : bootstrapPath, undefined)
  }
  return {
    current: () => current.current(),
    onChange: (listener) => current.onChange(listener),
    ttlSeconds: () => current.ttlSeconds(),
    async run(signal) {
      await using group = new TaskGroup(signal)
      const wanted = wantedForNode(deps.nodeName)
      const rotation = {
        ...deps,
        signer: CLIENT_SIGNER,
        store,
        current,
        isTemporary,
        connect,
        wanted: () => wanted,
        checkEveryMs: CHECK_EVERY_MS,
        onAnswer: (isThere: boolean) => {
          isServerThere = isThere
        },
      }
      group.run('rotation of the client certificate', (signal) => runCertificateRotation(rotation, signal))
      group.run('client certificate expiry watch', (signal) =>
        runExpiryWatch({ ...deps, certificates: current, isServerThere: () => isServerThere }, signal),
      )
      await group.join()
    },
  }
}

/** Why the client certificate of a kubeconfig file cannot be used; undefined when it can. */
async function findKubeconfigFault({ user }: Pick<KubeconfigInfo, 'user'>, now: number): Promise<string | undefined> {
  if (user.certificate === undefined) return 'it has no client certificate'
  try {
    const pair = await readCertificateSource(user.certificate)
    if (pair === undefined) return 'its client certificate is not there'
    const ended = parseCertificates(pair.certificatePem).find(({ validToDate }) => now > validToDate.getTime())
    return ended === undefined ? undefined : `its client certificate has ended at ${ended.validToDate.toISOString()}`
  } catch (error) {
    throwIfTransient(error)
    return `its client certificate is broken: ${errorMessage(error)}`
  }
}
