import type { Clock } from '../../base/async/clock.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import type { Settings } from '../../model/config/load-configuration.ts'
import { createLastGoodManifests } from '../../system/directories/last-good-manifests.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { decodeStaticPods } from './decode-static-pod.ts'
import type { PodConfigMux } from './pod-config-mux.ts'
import { runFileSource } from './run-file-source.ts'
import type { Logger } from '../../base/telemetry/logger.ts'

export interface RunSourcesDeps {
  readonly settings: Settings
  /** Static pods may refer to what is read elsewhere. */
  readonly hasObjects: boolean
  /** The pods that an API wants here; undefined without one. */
  readonly runApi: ((emit: (pods: readonly Pod[]) => void, signal: AbortSignal) => Promise<void>) | undefined
  readonly mux: PodConfigMux
  readonly clock: Clock
  readonly log: Logger
  /** Every source has reported once what it has: an absent pod is a deleted pod from now on. */
  readonly onAllSeen: () => void
  /** A manifest or an answer gave no pods. */
  readonly onRefused: () => void
}

/** The sources that the configuration asks for. */
export function sourceNames({ config, standalone }: Settings): readonly string[] {
  return [
    ...(config.staticPodPath === '' ? [] : ['file']),
    ...(config.staticPodURL === '' ? [] : ['http']),
    ...(standalone ? [] : ['api']),
  ]
}

/** Runs all sources of pods into the mux until the signal aborts. */
export async function runSources(
  { settings, hasObjects, runApi, mux, clock, log, onAllSeen, onRefused }: RunSourcesDeps,
  signal: AbortSignal,
): Promise<void> {
  const { config, gates, nodeName } = settings
  const names = sourceNames(settings)
  if (names.length === 0) log.warn('no source of pods is configured: set staticPodPath or staticPodURL', {})
  const decoding = { nodeName, refuseApiReferences: !hasObjects && gates.enabled('PreventStaticPodAPIReferences') }
  let all = false
  const checkAll = () => {
    if (all || !mux.allSeen()) return
    all = true
    onAllSeen()
  }
  const emitAs = (source: string) => (pods: readonly Pod[]) => {
    mux.set(source, pods)
    checkAll()
  }
  await using group = new TaskGroup(signal)
  checkAll()
  if (names.includes('file')) {
    const decode = (bytes: Uint8Array, path: string) => decodeStaticPods(bytes, { kind: 'file', path }, decoding)
    const deps = {
      path: config.staticPodPath,
      checkFrequencyMs: config.fileCheckFrequency,
      decode,
      lastGood: createLastGoodManifests(`${settings.flags.rootDir}/last-good-manifests`),
      clock,
      logger: log,
      onRefused,
      emit: emitAs('file'),
    }
    group.run('file source', (fileSignal) => runFileSource(deps, fileSignal))
  }
  if (names.includes('http')) {
    const url = config.staticPodURL
    const decode = (bytes: Uint8Array) => decodeStaticPods(bytes, { kind: 'http', url }, decoding)
    const headers = config.staticPodURLHeader ?? {}
    const deps = {
      url,
      headers,
      checkFrequencyMs: config.httpCheckFrequency,
      decode,
      clock,
      logger: log,
      onRefused,
      emit: emitAs('http'),
    }
    // Loaded only where it is used: most nodes have no such source, and it has its own HTTP client.
    const { runHttpSource } = await import('./run-http-source.ts')
    group.run('http source', (httpSignal) => runHttpSource(deps, httpSignal))
  }
  if (runApi !== undefined) group.run('api source', (apiSignal) => runApi(emitAs('api'), apiSignal))
  await group.join()
}
