import { AbortScope } from '../../base/async/abort-scope.ts'
import type { Clock } from '../../base/async/clock.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { API_SERVICE_PORT } from '../../model/networking/api-service-port.ts'
import { ADMIN_GROUP, NODE_GROUP, NODE_PREFIX, READER_GROUP } from '../auth/user-names.ts'
import type { StaticPods } from '../auth/admit-mirror-pod.ts'
import type { KubeletTrust } from '../backends/backend.ts'
import { ensureKubeconfig } from '../pki/client-kubeconfig.ts'
import type { ClientIdentity } from '../pki/client-kubeconfig.ts'
import { openPki } from '../pki/open-pki.ts'
import { runCertificateSigner } from '../pki/run-certificate-signer.ts'
import { runRenewal } from '../pki/run-renewal.ts'
import { ensureServingCertificate } from '../pki/serving-certificate.ts'
import { SEALED_RESOURCES } from '../kinds/all-resources.ts'
import { firstAddress } from '../kinds/rules/services/service-range.ts'
import type { RequestUser } from '../kinds/resource.ts'
import { writeApiEndpoint } from '../lifecycle/api-service.ts'
import type { ApiEndpoint } from '../lifecycle/api-service.ts'
import { createBaseObjects } from '../lifecycle/base-objects.ts'
import type { BaseClasses } from '../lifecycle/base-objects.ts'
import { runEventExpiry } from '../lifecycle/run-event-expiry.ts'
import { runReturningPods } from '../lifecycle/run-returning-pods.ts'
import { openApiStore } from '../store/open-api-store.ts'
import { runBackups } from '../store/run-backups.ts'
import { createParts } from './create-parts.ts'
import type { ApiParts } from './create-parts.ts'
import { createSigningRequests } from './create-signing-requests.ts'
import { guardApi } from './guard-api.ts'
import { HttpsListener } from './https-listener.ts'
import { serveUpgrade } from './serve-upgrade.ts'
import { runRootCertificates } from './run-root-certificates.ts'

export interface ApiServerDeps {
  /** Where objects, keys and certificates are kept. */
  readonly folder: string
  readonly address: string
  /** 0 takes any that is free. */
  readonly port: number
  /** More addresses of the machine, with the same port. */
  readonly alsoOn?: readonly string[]
  /** What the API is reached by besides localhost, at the moment: names and addresses. */
  readonly servingNames: () => readonly string[]
  /** Whom to keep kubeconfig files for; adminIdentity() is one. */
  readonly identities: readonly ClientIdentity[]
  /** The node that this API is for. */
  readonly nodeName: string
  /** Whether a client of the API binds pods to nodes; without one they are bound to the node as soon as they are created. */
  readonly hasScheduler?: boolean
  /** Where services get their addresses from, as in "10.96.0.0/12", which it is when absent. */
  readonly serviceRange?: string
  /** An address of the machine by which pods can reach the port of the API; none when they cannot. */
  readonly advertisedAddress?: string
  /** Whether the machine has the address of the API's service, so that pods reach the API there without any translation. */
  readonly hasServiceAddress?: boolean
  /** As in "v1.36.4". */
  readonly version: string
  readonly clock: Clock
  readonly log: Logger
  readonly newUid: () => string
  /** From 0 up to, but not including, 1. */
  readonly random: () => number
  /** How kubelets prove themselves when the API calls them; by certificates of its own authority for their address when absent. */
  readonly kubeletTrust?: () => KubeletTrust
  /** Where kubelets listen; at the address that their Node reports when absent. */
  readonly kubeletAddress?: string
  /** The static pods of the node, as its agent has them: they may use objects of the API. None may when absent. */
  readonly staticPods?: StaticPods
  /** Resources that nothing acts on, so that none are taken, each with the reason. */
  readonly switchedOff?: ReadonlyMap<string, string>
  /** The classes of claims and Ingresses that name none, made where they are missing; none is made of what is absent. */
  readonly baseClasses?: BaseClasses
  readonly onReady?: (ready: ApiServerReady) => void
}

/** What others need to reach the API. */
export interface ApiServerReady {
  /** As in "https://127.0.0.1:6443". */
  readonly server: string
  readonly authorityPem: string
}

const DOOR_RETRY_MS = 2000

/** The parts of the server itself act as this one. */
const OWN_USER: RequestUser = { name: 'system:deckhand', groups: [ADMIN_GROUP] }

/** An administrator's kubeconfig file. */
export function adminIdentity(path: string): ClientIdentity {
  return { path, user: 'kubernetes-admin', groups: [ADMIN_GROUP] }
}

/** The kubeconfig file of a user who may read everything but secrets. */
export function readerIdentity(path: string): ClientIdentity {
  return { path, user: 'reader', groups: [READER_GROUP] }
}

/** The kubeconfig file of a node. */
export function nodeIdentity(path: string, nodeName: string): ClientIdentity {
  return { path, user: `${NODE_PREFIX}${nodeName}`, groups: [NODE_GROUP] }
}

/** Whether the API itself gives the node its credential. */
function hasNodeCredential({ identities, nodeName }: ApiServerDeps): boolean {
  return identities.some(({ user }) => user === `${NODE_PREFIX}${nodeName}`)
}

/** Serves the Kubernetes API of one node until the signal aborts. */
export async function runApiServer(deps: ApiServerDeps, signal: AbortSignal): Promise<void> {
  const pki = await openPki(`${deps.folder}/pki`, deps)
  using store = await openApiStore({ folder: `${deps.folder}/objects`, sealedResources: SEALED_RESOURCES }, deps)
  const parts = await createParts(deps, pki, store)
  await createBaseObjects(store, parts.infoFor(OWN_USER), deps.baseClasses)
  // Watches and streams end with it before the connections do.
  using stopping = new AbortScope(signal)
  const listener = await createListener(deps, parts, stopping.signal)
  const port = await listener.listen(deps.address, deps.port)
  const server = toUrl(deps.address, port)
  try {
    for (const address of deps.alsoOn ?? []) await openDoor(deps, listener, { address, port })
    const service = await openServiceDoor(deps, parts, listener)
    const endpoint = service ?? { address: deps.advertisedAddress, port }
    const { address } = endpoint
    if (address !== undefined) await writeApiEndpoint(store, parts.infoFor(OWN_USER), { ...endpoint, address })
    for (const identity of deps.identities) await ensureKubeconfig(pki, identity, server, deps)
    await runTasks(deps, parts, { listener, server, isAtService: service !== undefined }, signal)
  } finally {
    await listener.close()
  }
}

/** Listens at the address of the service as well. */
async function openServiceDoor(
  deps: ApiServerDeps,
  { serviceRanges: [range] }: ApiParts,
  listener: HttpsListener,
): Promise<ApiEndpoint | undefined> {
  if (deps.hasServiceAddress !== true || range === undefined) return undefined
  const endpoint = { address: firstAddress(range), port: API_SERVICE_PORT }
  return (await openDoor(deps, listener, endpoint, { sharesPort: true })) ? endpoint : undefined
}

/** Tries again what another program kept it from: an ingress that gets the port then would have the address of the API too. */
async function retryServiceDoor(
  deps: ApiServerDeps,
  parts: ApiParts,
  listener: HttpsListener,
  signal: AbortSignal,
): Promise<void> {
  let endpoint: ApiEndpoint | undefined
  for (;;) {
    await deps.clock.sleep(DOOR_RETRY_MS, signal)
    endpoint ??= await openServiceDoor({ ...deps, log: silentLogger }, parts, listener)
    if (endpoint === undefined) continue
    try {
      return await writeApiEndpoint(parts.store, parts.infoFor(OWN_USER), endpoint)
    } catch (error) {
      signal.throwIfAborted()
      // As on a full disk: who has a connection keeps it.
      deps.log.warn('cannot write where the API is, will try again', { ...endpoint, error })
    }
  }
}

/** Listens at one more address; what keeps it from that must not keep the node from starting. */
async function openDoor(
  { log }: Pick<ApiServerDeps, 'log'>,
  listener: HttpsListener,
  endpoint: ApiEndpoint,
  options: { readonly sharesPort: boolean } = { sharesPort: false },
): Promise<boolean> {
  try {
    await listener.alsoListen(endpoint.address, endpoint.port, options)
    return true
  } catch (error) {
    log.error('the API cannot be reached at one of its addresses', { ...endpoint, error })
    return false
  }
}

async function createListener(deps: ApiServerDeps, parts: ApiParts, stop: AbortSignal): Promise<HttpsListener> {
  const { clock, log, newUid } = deps
  const { pki, api, objects, roles, signer, backends, authenticator } = parts
  return new HttpsListener({
    api: guardApi({ api, objects, roles, signer, clock, newUid }, stop),
    authenticate: (credentials) => authenticator.authenticate(credentials),
    upgrade: (upgrade) => serveUpgrade({ objects, roles, backends, clock, log }, upgrade, stop),
    authorityPem: pki.authority.pem,
    certificate: await ensureServingCertificate(pki, namesOf(deps, parts), deps),
    clock,
    log,
  })
}

/** What the API is reached by: as the caller says, and by the address of its service. */
function namesOf(deps: ApiServerDeps, { serviceRanges }: ApiParts): readonly string[] {
  return [...serviceRanges.map(firstAddress), ...deps.servingNames()]
}

/** All that goes on while the API is served. */
async function runTasks(
  deps: ApiServerDeps,
  parts: ApiParts,
  {
    listener,
    server,
    isAtService,
  }: { readonly listener: HttpsListener; readonly server: string; readonly isAtService: boolean },
  signal: AbortSignal,
): Promise<void> {
  const { clock, log } = deps
  const { pki, store, api, kubelets } = parts
  const { pem } = pki.authority
  await using group = new TaskGroup(signal)
  group.run('listener', (signal) => listener.run(signal))
  if (deps.hasServiceAddress === true && !isAtService)
    group.run('address of the service', (signal) => retryServiceDoor(deps, parts, listener, signal))
  const renewal = {
    ...deps,
    pki,
    server,
    servingNames: () => namesOf(deps, parts),
    onServingCertificate: listener.reload.bind(listener),
    onKubeletClientCertificate: kubelets.reload.bind(kubelets),
  }
  group.run('renewal', (signal) => runRenewal(renewal, signal))
  const requests = createSigningRequests(store, api, OWN_USER)
  group.run('certificate signer', (signal) =>
    runCertificateSigner(
      { ...deps, requests, authority: pki.authority, hasCredential: hasNodeCredential(deps) },
      signal,
    ),
  )
  group.run('root certificates', (signal) => runRootCertificates({ ...deps, store, api, user: OWN_USER, pem }, signal))
  const info = () => parts.infoFor(OWN_USER)
  group.run('returning pods', (signal) => runReturningPods({ store, info, clock, log }, signal))
  group.run('backups', (signal) => runBackups({ store, clock, log }, signal))
  group.run('expiry of events', (signal) => runEventExpiry({ store, clock }, signal))
  deps.onReady?.({ server, authorityPem: pem })
  await group.join()
}

/** What clients on the machine connect to. */
function toUrl(address: string, port: number): string {
  if (address === '0.0.0.0' || address === '') return `https://127.0.0.1:${port}`
  if (address === '::') return `https://[::1]:${port}`
  return address.includes(':') ? `https://[${address}]:${port}` : `https://${address}:${port}`
}
