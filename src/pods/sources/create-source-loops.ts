import type { Clock } from '../../base/async/clock.ts'
import type { Loop } from '../../base/async/loop.ts'
import type { Settings } from '../../model/config/load-configuration.ts'
import type { ManifestCopies } from '../../system/directories/last-good-manifests.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { decodeStaticPods } from './decode-static-pod.ts'
import type { PodConfigMux } from './pod-config-mux.ts'
import { runFileSource } from './run-file-source.ts'
import type { RefusedManifests } from './refused-manifests.ts'
import type { Logger } from '../../base/telemetry/logger.ts'

export interface SourceLoopsDeps {
  readonly settings: Settings
  readonly host: { lastGoodManifests(folder: string): ManifestCopies }
  /** Static pods may refer to what is read elsewhere. */
  readonly hasObjects: boolean
  /** The pods that an API wants here; undefined without one. */
  readonly runApi: ((emit: (pods: readonly Pod[]) => void, signal: AbortSignal) => Promise<void>) | undefined
  readonly mux: Pick<PodConfigMux, 'set' | 'begin'>
  readonly clock: Clock
  readonly random: () => number
  readonly log: Logger
  /** A manifest or an answer gave no pods. */
  readonly onRefused: () => void
  /** The manifest files that are refused at the moment. */
  readonly refused: RefusedManifests
}

/** The sources that the configuration asks for. */
export function sourceNames({ config, flags, withoutApi }: Settings): readonly string[] {
  return [
    ...(config.staticPodPath === '' ? [] : ['file']),
    ...(config.staticPodURL === '' ? [] : ['http']),
    ...(flags.etcdServers.length === 0 ? [] : ['etcd']),
    ...(withoutApi ? [] : ['api']),
  ]
}

/** A loop for each source of pods, into the mux. */
export function createSourceLoops(deps: SourceLoopsDeps): readonly Loop[] {
  const { settings, host, hasObjects, runApi, mux, clock, random, log, onRefused, refused } = deps
  const { config, gates, nodeName } = settings
  const names = sourceNames(settings)
  const decoding = {
    nodeName,
    refuseApiReferences: !hasObjects && gates.enabled('PreventStaticPodAPIReferences'),
    rules: { userNamespacesHostNetwork: gates.enabled('UserNamespacesHostNetworkSupport') },
  }
  const emitAs = (source: string) => (pods: readonly Pod[]) => mux.set(source, pods)
  const shared = { clock, logger: log, onRefused }
  const all: readonly (Loop & { readonly source: string })[] = [
    {
      source: 'file',
      name: 'file source',
      async run(s) {
        const path = config.staticPodPath
        const lastGood = host.lastGoodManifests(`${settings.flags.rootDir}/last-good-manifests`)
        const decode = (bytes: Uint8Array, file: string) =>
          decodeStaticPods(bytes, { kind: 'file', path: file }, decoding)
        const checkFrequencyMs = config.fileCheckFrequency
        await runFileSource({ ...shared, refused, path, checkFrequencyMs, decode, lastGood, emit: emitAs('file') }, s)
      },
    },
    {
      // The pods of staticPodURL, under the name that the Go kubelet has for this source.
      source: 'http',
      name: 'http source',
      async run(s) {
        const url = config.staticPodURL
        const headers = config.staticPodURLHeader ?? {}
        const decode = (bytes: Uint8Array) => decodeStaticPods(bytes, { kind: 'http', url }, decoding)
        const checkFrequencyMs = config.httpCheckFrequency
        // Loaded only where it is used: most nodes have no such source, and it has its own HTTP client.
        const { runUrlSource } = await import('./run-url-source.ts')
        await runUrlSource({ ...shared, url, headers, checkFrequencyMs, decode, emit: emitAs('http') }, s)
      },
    },
    {
      source: 'etcd',
      name: 'etcd source',
      async run(s) {
        const { etcdServers: servers, etcdPrefix } = settings.flags
        const prefix = etcdPrefix || `/registry/nodes/${nodeName}/boundpods`
        const decode = (bytes: Uint8Array, key: string) => decodeStaticPods(bytes, { kind: 'etcd', key }, decoding)
        // Loaded only where it is used.
        const [{ runEtcdSource }, { createEtcdConnector }] = await Promise.all([
          import('./etcd/run-etcd-source.ts'),
          import('./etcd/create-etcd-connector.ts'),
        ])
        const connect = createEtcdConnector(settings.flags, clock)
        const lastGood = host.lastGoodManifests(`${settings.flags.rootDir}/last-good-etcd`)
        await runEtcdSource(
          { ...shared, refused, random, servers, prefix, connect, decode, lastGood, emit: emitAs('etcd') },
          s,
        )
      },
    },
    { source: 'api', name: 'api source', run: async (s) => await runApi?.(emitAs('api'), s) },
  ]
  const none: Loop = {
    name: 'no source',
    async run() {
      log.warn('no source of pods is configured: set staticPodPath, staticPodURL or --etcd-servers', {})
      mux.begin()
    },
  }
  return names.length === 0 ? [none] : all.filter(({ source }) => names.includes(source))
}
