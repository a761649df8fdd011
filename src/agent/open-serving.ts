import { ApiReturn } from '../protocols/kube-api/list-watch/api-return.ts'
import type { Loop } from '../base/async/loop.ts'
import { WatchedValue } from '../base/async/watched-value.ts'
import type { PodUid } from '../model/pod/pod.ts'
import type { PluginHandler } from '../node/plugins/plugin-handler.ts'
import { PluginRegistrations } from '../node/plugins/plugin-registrations.ts'
import type { Stages } from './stages.ts'
import { createServingCertificates } from '../serving/ports/create-serving-certificates.ts'
import { runServers } from '../serving/ports/run-servers.ts'

export type Serving = ReturnType<typeof openServing>

/** What others ask of the agent: its ports, and the sockets of the node. */
export function openServing({ base, runtime, registry, devices, node, pods, sources }: Omit<Stages, 'serving'>) {
  const { rootDirectory, clock, log, tasks } = base
  const { relists } = runtime
  const { plugins, placement, dra } = devices
  const client = base.cluster?.client
  const apiReturn = base.cluster?.apiReturn ?? new ApiReturn()
  const certificates = createServingCertificates({ ...base, ownNode: node.own, client, apiReturn }, tasks)
  const registrations = new PluginRegistrations({
    directory: `${rootDirectory}/plugins_registry`,
    handlers: new Map<string, PluginHandler>([
      ['CSIPlugin', node.csi.handler],
      ['DevicePlugin', plugins.handler],
      ['DRAPlugin', dra.drivers],
    ]),
    clock,
    log,
  })
  const apiDeps = async () => {
    // Loaded after the pods, which come first.
    const { createKubeletApiDeps } = await import('../serving/ports/create-kubelet-api-deps.ts')
    return createKubeletApiDeps({ ...base, runtime, registry, client, certificates: await certificates.open() })
  }
  const statsRoutes = async () => {
    const [{ createStatsRoutes }, { createStatsRoutesDeps }, engine] = await Promise.all([
      import('../serving/endpoints/stats-routes.ts'),
      import('../serving/ports/create-stats-routes-deps.ts'),
      pods.stats.open(),
    ])
    return createStatsRoutes(createStatsRoutesDeps({ ...base, identity: base.host.identity(), engine }))
  }
  const answering = new WatchedValue(false)
  const health = { syncLoop: () => relists.stuck(), devicePlugins: () => plugins.problem() }
  const loops: readonly Loop[] = [
    {
      name: 'servers',
      async run(s) {
        const onAnswering = () => answering.set(true)
        const { refusedManifests, unusedFields } = sources
        const asked = { registry, refusedManifests, unusedFields, statsRoutes, apiDeps, onAnswering }
        const { volumes, images } = pods
        const placesOf = (uid: PodUid) => volumes.placesOf(uid)
        const listImages = (each: AbortSignal) => images.collector.list(each)
        await runServers({ ...base, ...health, ...asked, placesOf, listImages }, s)
      },
    },
  ]
  const lateLoops: readonly Loop[] = [
    {
      name: 'node API',
      async run(s) {
        const { runNodeSockets } = await import('../serving/sockets/run-node-sockets.ts')
        const given = { placement, devices: plugins, claims: dra.claims }
        await runNodeSockets({ ...base, ...given, registry, changes: sources.changes }, s)
      },
    },
    { name: 'plugins', run: (s) => registrations.run(s) },
  ]
  return {
    /** Resolves when the agent answers health checks, or cannot for now. */
    answering: (s: AbortSignal) => answering.until((isAnswering) => isAnswering, s),
    isHealthy: () => Object.values(health).every((check) => check() === undefined),
    /** Of the kubelet's API. */
    certificates,
    registrations,
    loops,
    /** They begin after the agent is ready. */
    lateLoops,
  }
}
