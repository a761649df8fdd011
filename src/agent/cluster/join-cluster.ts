import { randomUUID } from 'node:crypto'
import type { Clock } from '../../base/async/clock.ts'
import type { Loop } from '../../base/async/loop.ts'
import type { TaskGroup } from '../../base/async/task-group.ts'
import type { AgentMetrics } from '../../metrics/create-metrics.ts'
import type { CertificateMetrics, CertificateProvider } from '../../node/certificates/certificate-provider.ts'
import { EarlyNodeEvents } from '../../model/events/early-node-events.ts'
import { openClientCertificates } from '../../node/certificates/open-client-certificates.ts'
import type { ClientCertificates, ClientCertificatesDeps } from '../../node/certificates/open-client-certificates.ts'
import type { Settings } from '../../model/config/load-configuration.ts'
import type { Projections, ProjectionsDeps } from '../../pods/volumes/payload/create-projections.ts'
import { createEventRecorder } from '../../protocols/kube-api/events/create-event-recorder.ts'
import { createSetCredentialsAside } from '../../system/directories/with-state-file-reports.ts'
import { hostConfigFiles } from '../../system/files/host-config-files.ts'
import { isProgram } from '../../system/files/is-program.ts'
import { runProcess } from '../../system/processes/run-process.ts'
import type {
  KubeClientMetrics,
  OnHostResolved,
  CredentialPluginCall,
  PluginCertificate,
} from '../../protocols/kube-api/client-metrics.ts'
import { createKubeClient } from '../../protocols/kube-api/create-kube-client.ts'
import { NodeFollower, toTtlMs } from '../../protocols/kube-api/followers/node-follower.ts'
import { RuntimeClassesFollower } from '../../protocols/kube-api/followers/runtime-classes-follower.ts'
import { ServicesFollower } from '../../protocols/kube-api/followers/services-follower.ts'
import { ApiReturn, hintAnswers } from '../../protocols/kube-api/list-watch/api-return.ts'
import type { KubeClient } from '../../protocols/kube-api/kube-client.ts'
import { createClusterTransport } from '../../protocols/kube-api/kubeconfig/create-cluster-transport.ts'
import { loadKubeconfig, loadUsableKubeconfig } from '../../protocols/kube-api/kubeconfig/load-kubeconfig.ts'
import { reportEndedCertificates } from '../../protocols/kube-api/kubeconfig/report-ended-certificates.ts'
import type { EndedCertificate } from '../../protocols/kube-api/kubeconfig/report-ended-certificates.ts'
import { runListWatch } from '../../protocols/kube-api/list-watch/run-list-watch.ts'
import { certificateCredentials } from '../../protocols/kube-api/transport/kube-credentials.ts'
import { traceTransport } from '../../protocols/kube-api/transport/trace-transport.ts'
import type { Transport } from '../../protocols/kube-api/transport/transport.ts'
import type { Membership } from './membership.ts'
import type { Node } from '../../model/generated/core-v1.ts'
import { createDynamicResourcesApi } from '../../pods/objects/dynamic-resources-api.ts'
import { createKubeObjectApi } from '../../pods/objects/create-kube-object-api.ts'
import type { FollowedObjects } from '../../pods/sources/run-api-source.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { Tracer } from '../../base/telemetry/tracer.ts'

export interface JoinClusterDeps {
  readonly settings: Settings
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly metrics: {
    readonly client: KubeClientMetrics
    readonly certificate: CertificateMetrics
    readonly pluginCall: (call: CredentialPluginCall) => void
    readonly pluginCertificate: (given: PluginCertificate) => void
    readonly hostResolved: OnHostResolved
    readonly stateSetAside: (kind: string) => void
  }
  /** There is no way on without a new start. */
  readonly giveUp: (error: Error) => void
  /** Undefined: nothing is traced. */
  readonly tracer: Tracer | undefined
  readonly clock: Clock
  readonly log: Logger
  readonly random: () => number
}

/** The cluster that this node belongs to. */
export interface Cluster {
  readonly client: KubeClient
  /** Without a rate limit, for what must not wait. */
  readonly heartbeats: KubeClient
  readonly membership: Membership
  readonly certificates: ClientCertificates | undefined
  /** The own Node object as the API last had it. */
  readonly node: () => Node | undefined
  readonly onNode: (listener: () => void) => void
  /** Resolves when it is known whether there is a Node object. */
  readonly nodeSeen: (signal: AbortSignal) => Promise<void>
  readonly follow: (objects: FollowedObjects, signal: AbortSignal) => Promise<void>
  /** A hint: the API answers. */
  readonly onApiReturn: (listener: () => void) => void
  readonly apiReturn: ApiReturn
  readonly dropConnections: () => void
  /** Follow what all pods need, and keep the certificate valid. */
  readonly loops: readonly Loop[]
}

/** One for all connections, so that each certificate is reported once. */
interface ConnectDeps extends JoinClusterDeps {
  readonly reportEnded: (kubeconfig: string, ended: EndedCertificate) => void
}

const POLL_MS = 100

/** Connects to the API of the kubeconfig file, with a certificate of its own when there is to be one, and follows what all pods need. */
export async function joinCluster(given: JoinClusterDeps, group: TaskGroup): Promise<Cluster> {
  const deps = { ...given, reportEnded: reportEndedCertificates(given.log) }
  const apiReturn = new ApiReturn()
  // Certificates are read before there is an API to send events to.
  const events = new EarlyNodeEvents()
  const setAside = createSetCredentialsAside({ metrics: deps.metrics, events })
  const certificates = await openCertificates({ ...deps, apiReturn, setAside }, group)
  const connections = await openTransport(deps, { path: deps.settings.flags.kubeconfig, certificates }, group)
  const cluster = await useCluster(deps, { connections, certificates, apiReturn }, group)
  events.passOn(cluster.membership.nodeEvents)
  return cluster
}

/** How the node reaches its cluster. */
export interface ClusterAccess {
  readonly connections: Transport
  readonly certificates: ClientCertificates | undefined
  readonly apiReturn: ApiReturn
  /** Followed by others, for many nodes at once; without, each node follows them by itself. */
  readonly followed?: FollowedObjectsOfAll
}

/** What several nodes of one process read together. */
interface FollowedObjectsOfAll {
  readonly node: Pick<NodeFollower, 'node' | 'hasSynced' | 'onChange'>
  readonly services: Pick<ServicesFollower, 'lookup' | 'untilRead'>
  readonly runtimeClasses: Pick<RuntimeClassesFollower, 'find'>
}

/** A node in its cluster, over connections that there are. */
export async function useCluster(
  deps: Omit<JoinClusterDeps, 'environment'>,
  { connections, certificates, apiReturn, followed }: ClusterAccess,
  group: TaskGroup,
): Promise<Cluster> {
  const { settings, clock, log, random } = deps
  const { config, nodeName } = settings
  const transport = hintAnswers(connections, apiReturn)
  const limits = createLimits(deps, transport)
  const client = limits({ qps: config.kubeAPIQPS, burst: config.kubeAPIBurst })
  const follower = { client, clock, random, log, apiReturn }
  const {
    node,
    services,
    runtimeClasses,
    loops: followers,
  } = followed === undefined ? follow({ ...follower, nodeName }) : { ...followed, loops: [] }
  const eventClient = limits({ qps: config.eventRecordQPS, burst: config.eventBurst })
  const events = createEventRecorder({ ...follower, client: eventClient, nodeName, newUid: randomUUID })
  const loops: readonly Loop[] = [
    ...(certificates === undefined
      ? []
      : [{ name: 'client certificate', run: (s: AbortSignal) => certificates.run(s) }]),
    ...followers,
    { name: 'events', run: (s) => events.run(s) },
  ]
  return {
    client,
    heartbeats: limits({ qps: -1, burst: 0 }),
    certificates,
    membership: {
      objects: createKubeObjectApi(follower),
      dynamicResources: createDynamicResourcesApi({
        client,
        nodeName,
        isRegistered: () => node.node() !== undefined,
        apiReturn,
      }),
      projections: await openProjections(
        deps,
        { ...follower, nodeName, nodeUid: () => node.node()?.metadata?.uid, events: events.podEvents },
        group,
      ),
      podEvents: events.podEvents,
      nodeEvents: events.nodeEvents,
      runtimeClasses,
      services: () => services.lookup(),
      servicesRead: (signal) => services.untilRead(signal),
      nodeTtlMs: () => toTtlMs(node.node()),
    },
    node: () => node.node(),
    onNode: (listener) => node.onChange(listener),
    async nodeSeen(signal) {
      while (!node.hasSynced) await clock.sleep(POLL_MS, signal)
    },
    follow: async (objects, signal) => await runListWatch({ ...follower, ...objects }, signal),
    onApiReturn: (listener) => apiReturn.onReached(listener),
    apiReturn,
    dropConnections: () => transport.closeAll('the API is silent'),
    loops,
  }
}

/** Follows what all pods need, for this node alone. */
function follow(
  deps: ConstructorParameters<typeof NodeFollower>[0],
): FollowedObjectsOfAll & { readonly loops: readonly Loop[] } {
  const node = new NodeFollower(deps)
  const services = new ServicesFollower(deps)
  const runtimeClasses = new RuntimeClassesFollower(deps)
  return {
    node,
    services,
    runtimeClasses,
    loops: [
      { name: 'own Node object', run: (s) => node.run(s) },
      { name: 'services', run: (s) => services.run(s) },
      { name: 'runtime classes', run: (s) => runtimeClasses.run(s) },
    ],
  }
}

/** Loaded only where a gate is on: both are off by default. */
async function openProjections(
  { settings: { gates } }: Pick<JoinClusterDeps, 'settings'>,
  deps: Omit<ProjectionsDeps, 'gates'>,
  group: TaskGroup,
): Promise<Projections | undefined> {
  const isOn = gates.enabled('ClusterTrustBundleProjection') || gates.enabled('PodCertificateRequest')
  if (!isOn) return undefined
  const { createProjections } = await import('../../pods/volumes/payload/create-projections.ts')
  return createProjections({ ...deps, gates }, group)
}

function createLimits(
  { settings, metrics, tracer, clock, random, log }: Omit<JoinClusterDeps, 'environment'>,
  connections: Transport,
) {
  const transport = tracer === undefined ? connections : traceTransport(connections, tracer)
  const shared = { transport, userAgent: `kubelet/${settings.version} (deckhand)`, metrics: metrics.client }
  return (limits: { readonly qps: number; readonly burst: number }): KubeClient =>
    createKubeClient({ ...shared, ...limits, clock, random, log })
}

async function openTransport(
  { environment, metrics, reportEnded, clock, log }: ConnectDeps,
  cluster: { readonly path: string; readonly certificates: CertificateProvider | undefined },
  group: TaskGroup,
): Promise<Transport> {
  const { path, certificates } = cluster
  return createClusterTransport({
    config: await loadKubeconfig(hostConfigFiles, path),
    ...(certificates !== undefined && { credentials: certificateCredentials(certificates) }),
    files: hostConfigFiles,
    run: (request, signal) => runProcess(clock, request, signal),
    environment,
    onPluginCall: metrics.pluginCall,
    onPluginCertificate: metrics.pluginCertificate,
    onHostResolved: metrics.hostResolved,
    onEnded: (ended) => reportEnded(path, ended),
    tasks: group,
    clock,
    log,
  })
}

async function openCertificates(
  deps: ConnectDeps & Pick<ClientCertificatesDeps, 'apiReturn' | 'setAside'>,
  group: TaskGroup,
): Promise<ClientCertificates | undefined> {
  const { settings, metrics, environment } = deps
  const { config, flags } = settings
  return await openClientCertificates(
    {
      ...deps,
      nodeName: settings.nodeName,
      kubeconfigPath: flags.kubeconfig,
      bootstrapPath: flags.bootstrapKubeconfig,
      folder: flags.certDir,
      rotates: config.rotateCertificates,
      readKubeconfig: (path) => loadUsableKubeconfig({ files: hostConfigFiles, environment, isProgram }, path),
      connect: async (path, certificates) =>
        createLimits(deps, await openTransport(deps, { path, certificates }, group))({ qps: -1, burst: 0 }),
      metrics: metrics.certificate,
    },
    group.signal,
  )
}

/** The measurements of the API clients, under the agent's metrics. */
export function toClusterMetrics(metrics: AgentMetrics): JoinClusterDeps['metrics'] {
  return {
    client: {
      request({ method: verb, code, host, seconds, isRepeat }) {
        metrics.clientRequest({ host, method: verb, verb, code, seconds })
        if (isRepeat) metrics.clientRetry({ host, verb, code })
      },
      waited: ({ method: verb, host, seconds }) => metrics.clientWait({ host, verb, seconds }),
      sized: ({ method: verb, ...sizes }) => metrics.clientSize({ verb, ...sizes }),
    },
    pluginCall: (call) => metrics.execPluginCall(call),
    pluginCertificate: (given) => metrics.execPluginCertificate(given),
    hostResolved: (lookup) => metrics.hostResolved(lookup),
    stateSetAside: (kind) => metrics.stateSetAside(kind),
    certificate: { renewError: () => metrics.certificateRenewalFailed('client'), rotated() {} },
  }
}
