import type { ObservedPod } from '../../../model/pod/observed-pod.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import { CriCallError } from '../../../protocols/cri/cri-call-error.ts'
import { isTooLarge } from '../../../protocols/cri/list-by-pod.ts'
import type { CriCalls } from '../../../protocols/cri/cri-calls.ts'
import type { StatsFamily } from '../reports/stats-family.ts'
import type { PodUsage } from '../stats-snapshot.ts'
import { collectRuntimePods } from './collect-runtime-pods.ts'
import type { RuntimeObservation } from './collect-runtime-pods.ts'
import { computeRuntimeFamilies } from './compute-runtime-families.ts'

export interface RuntimeStatsDeps {
  readonly calls: Pick<CriCalls, 'listPodSandboxStats' | 'listMetricDescriptors' | 'listPodSandboxMetrics'>
  readonly log: Logger
}

type Descriptors = Awaited<ReturnType<RuntimeStatsDeps['calls']['listMetricDescriptors']>>['descriptors']

/** What the runtime reports of pods, in place of what the agent reads of their cgroups. Parity: the gate PodAndContainerStatsFromCRI. */
export class RuntimeStats {
  readonly #deps: RuntimeStatsDeps
  readonly #missing = new Set<string>()
  /** They do not change while the runtime runs. */
  #descriptors: Descriptors | undefined

  constructor(deps: RuntimeStatsDeps) {
    this.#deps = deps
  }

  /** Undefined from a runtime that has no such stats: the cgroups of pods are read then. */
  async pods(
    observation: Omit<RuntimeObservation, 'calls'>,
    pods: readonly ObservedPod[],
    signal: AbortSignal,
  ): Promise<readonly PodUsage[] | undefined> {
    const { calls } = this.#deps
    return await this.#unlessMissing('stats of pods, reading their cgroups', () =>
      collectRuntimePods({ ...observation, calls }, pods, signal),
    )
  }

  /** Its own metrics of pods; none from a runtime that has none. */
  async families(signal: AbortSignal): Promise<readonly StatsFamily[]> {
    const { calls } = this.#deps
    const found = await this.#unlessMissing('metrics of pods, /metrics/cadvisor shows the machine alone', async () => {
      this.#descriptors ??= (await calls.listMetricDescriptors({}, signal)).descriptors
      const { podMetrics } = await calls.listPodSandboxMetrics({}, signal)
      return computeRuntimeFamilies(this.#descriptors, podMetrics)
    })
    return found ?? []
  }

  async #unlessMissing<T>(what: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work()
    } catch (error) {
      if (!isTooLarge(error) && !(error instanceof CriCallError && error.code === 'Unimplemented')) throw error
      const problem = isTooLarge(error) ? 'cannot send its' : 'has no'
      if (!this.#missing.has(what)) this.#deps.log.warn(`the runtime ${problem} ${what}`, { error })
      this.#missing.add(what)
      return undefined
    }
  }
}
