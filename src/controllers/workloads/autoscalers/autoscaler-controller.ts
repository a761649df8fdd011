import { Wakeup } from '../../../base/async/wakeup.ts'
import { errorMessage } from '../../../base/telemetry/error-text.ts'
import type { HorizontalPodAutoscaler, HorizontalPodAutoscalerStatus } from '../../../model/generated/api-groups.ts'
import type { Pod } from '../../../model/generated/core-v1.ts'
import { parseSelectorText } from '../../../model/schema/parse-selector-text.ts'
import type { SelectsLabels } from '../../../model/schema/parse-selector-text.ts'
import { toApiTime } from '../../../model/text/api-time.ts'
import type { KubeClient } from '../../../protocols/kube-api/kube-client.ts'
import type { ApiObjects } from '../../engine/api-objects.ts'
import type { Controller } from '../../engine/controller.ts'
import type { ControllerDeps } from '../../engine/controller-deps.ts'
import type { Live } from '../../engine/live-object.ts'
import { createObjectEvents } from '../../engine/object-events.ts'
import type { RecordEvent } from '../../engine/object-events.ts'
import { sameStatus } from '../../engine/same-status.ts'
import { withScaling } from './compute-allowed-replicas.ts'
import type { ScalingHistory } from './compute-allowed-replicas.ts'
import type { UsageReading } from './compute-proposal.ts'
import { computeScalingDecision, withScalingCondition } from './compute-scaling-decision.ts'
import type { ScalingDecision, SelectedPods } from './compute-scaling-decision.ts'
import { readUsage } from './read-usage.ts'
import { readScaleTarget, writeScale } from './scale-target.ts'
import type { ScaleTarget } from './scale-target.ts'

type Autoscaler = Live<HorizontalPodAutoscaler>
type ReadUsage = (namespace: string) => Promise<ReadonlyMap<string, UsageReading> | Error>

export type AutoscalerDeps = Pick<ControllerDeps, 'clock' | 'log' | 'record' | 'pods'> & {
  readonly client: KubeClient
  readonly autoscalers: ApiObjects<HorizontalPodAutoscaler>
}

/** What is known of an autoscaler from one turn to the next. */
interface Memory {
  history?: ScalingHistory
  selects?: SelectsLabels
}

const TURN_MS = 15_000

/** Sizes workloads by what their pods use: all of them in one turn, for which usage is read once. */
export function createAutoscalerController(deps: AutoscalerDeps): Controller {
  const { clock, autoscalers, pods } = deps
  const wakeup = new Wakeup()
  autoscalers.known.onChange(() => wakeup.wake())
  const turns = new AutoscalerTurns(deps)
  return {
    name: 'autoscalers',
    async run(signal) {
      for (const objects of [autoscalers, pods]) await objects.untilSynced(signal)
      for (;;) {
        while (autoscalers.known.all().length === 0) await wakeup.wait({ clock, ms: undefined }, signal)
        await clock.sleep(TURN_MS, signal)
        await turns.run(signal)
      }
    },
  }
}

class AutoscalerTurns {
  readonly #deps: AutoscalerDeps
  readonly #record: RecordEvent
  /** By UID. */
  readonly #memories = new Map<string, Memory>()

  constructor(deps: AutoscalerDeps) {
    this.#deps = deps
    this.#record = createObjectEvents(deps.record, 'horizontal-pod-autoscaler', deps.autoscalers.kind)
  }

  async run(signal: AbortSignal): Promise<void> {
    const { autoscalers, client, log } = this.#deps
    const all = autoscalers.known.all()
    const uids = new Set(all.map(({ metadata }) => metadata.uid))
    for (const uid of this.#memories.keys()) if (!uids.has(uid)) this.#memories.delete(uid)
    let reading: ReturnType<typeof readUsage> | undefined
    const usageIn: ReadUsage = async (namespace) => {
      reading ??= readUsage(client, signal)
      try {
        return (await reading).get(namespace) ?? new Map()
      } catch (error) {
        signal.throwIfAborted()
        return new Error(errorMessage(error), { cause: error })
      }
    }
    for (const autoscaler of all) {
      try {
        await this.#handle(autoscaler, usageIn, signal)
      } catch (error) {
        signal.throwIfAborted()
        const { namespace, name } = autoscaler.metadata
        log.warn('an autoscaler failed, will try again', { object: `${namespace}/${name}`, error })
      }
    }
  }

  async #handle(autoscaler: Autoscaler, usageIn: ReadUsage, signal: AbortSignal): Promise<void> {
    const { client, clock } = this.#deps
    const memory = this.#memories.getOrInsertComputed(autoscaler.metadata.uid, () => ({}))
    let target: ScaleTarget
    try {
      target = await readScaleTarget(client, autoscaler, signal)
    } catch (error) {
      signal.throwIfAborted()
      await this.#noteNoScale(autoscaler, errorMessage(error), signal)
      return
    }
    const current = target.scale.spec?.replicas ?? 0
    const { minReplicas = 1, maxReplicas } = autoscaler.spec
    const isByMetrics = current > 0 && current >= minReplicas && current <= maxReplicas
    const selection = isByMetrics ? this.#select(autoscaler, memory, target.scale.status?.selector ?? '') : { pods: [] }
    const usage = isByMetrics ? await usageIn(autoscaler.metadata.namespace) : new Map<string, UsageReading>()
    const [now, at] = [clock.now(), clock.monotonic()]
    const { history } = memory
    const decision = computeScalingDecision({ autoscaler, current, selection, usage, history, now, at })
    memory.history = decision.history
    for (const { reason, message } of decision.warnings) this.#record(autoscaler, 'Warning', reason, message)
    await this.#apply({ autoscaler, memory, target, current, decision }, signal)
  }

  async #noteNoScale(autoscaler: Autoscaler, error: string, signal: AbortSignal): Promise<void> {
    this.#record(autoscaler, 'Warning', 'FailedGetScale', error)
    const { status } = autoscaler
    const message = `the HPA controller was unable to get the target's current scale: ${error}`
    const conditions = withScalingCondition(
      status?.conditions ?? [],
      ['AbleToScale', 'False', 'FailedGetScale', message],
      this.#deps.clock.now(),
    )
    await this.#writeStatus(autoscaler, { desiredReplicas: 0, ...status, conditions }, signal)
  }

  /** The pods of the target, if no other autoscaler has one of them too. */
  #select({ metadata }: Autoscaler, memory: Memory, text: string): SelectedPods {
    const { pods, autoscalers } = this.#deps
    if (text === '') {
      const conditionMessage = "the HPA target's scale is missing a selector"
      return { event: 'SelectorRequired', reason: 'InvalidSelector', message: 'selector is required', conditionMessage }
    }
    try {
      memory.selects = parseSelectorText(text) ?? (() => true)
    } catch (error) {
      const message = `couldn't convert selector into a corresponding internal selector object: ${errorMessage(error)}`
      return { event: 'InvalidSelector', reason: 'InvalidSelector', message }
    }
    const { namespace } = metadata
    const selects = (selector: SelectsLabels | undefined, pod: Live<Pod>) =>
      selector?.(pod.metadata.labels ?? {}) === true
    const selected = pods.known.in(namespace).filter((pod) => selects(memory.selects, pod))
    const rivals = autoscalers.known
      .in(namespace)
      .filter(({ metadata: { uid } }) => selected.some((pod) => selects(this.#memories.get(uid)?.selects, pod)))
    if (rivals.length < 2) return { pods: selected }
    const names = rivals.map((each) => `${namespace}/${each.metadata.name}`).join(' ')
    const message = `pods by selector ${text} are controlled by multiple HPAs: [${names}]`
    return { event: 'AmbiguousSelector', reason: 'AmbiguousSelector', message }
  }

  async #apply(
    turn: {
      readonly autoscaler: Autoscaler
      readonly memory: Memory
      readonly target: ScaleTarget
      readonly current: number
      readonly decision: ScalingDecision
    },
    signal: AbortSignal,
  ): Promise<void> {
    const { autoscaler, memory, target, current, decision } = turn
    const { clock, client } = this.#deps
    const { currentMetrics, desired, rescale } = decision
    const old = autoscaler.status?.desiredReplicas ?? 0
    const base = {
      lastScaleTime: autoscaler.status?.lastScaleTime,
      currentReplicas: current,
      currentMetrics: currentMetrics.length === 0 ? undefined : currentMetrics,
      conditions: decision.conditions,
    }
    if (desired === undefined || rescale === undefined)
      return await this.#writeStatus(autoscaler, { ...base, desiredReplicas: desired ?? old }, signal)
    const able = (value: 'True' | 'False', reason: string, message: string) =>
      withScalingCondition(decision.conditions, ['AbleToScale', value, reason, message], clock.now())
    try {
      await writeScale(client, target, desired, signal)
    } catch (error) {
      signal.throwIfAborted()
      const why = errorMessage(error)
      const event = `New size: ${desired}; reason: ${rescale}; error: ${why}`
      this.#record(autoscaler, 'Warning', 'FailedRescale', event)
      const message = `the HPA controller was unable to update the target scale: ${why}`
      const conditions = able('False', 'FailedUpdateScale', message)
      return await this.#writeStatus(autoscaler, { ...base, conditions, desiredReplicas: old }, signal)
    }
    memory.history = withScaling(decision.history, current, desired, clock.monotonic())
    this.#record(autoscaler, 'Normal', 'SuccessfulRescale', `New size: ${desired}; reason: ${rescale}`)
    const message = `the HPA controller was able to update the target scale to ${desired}`
    const conditions = able('True', 'SucceededRescale', message)
    const lastScaleTime = toApiTime(clock.now())
    await this.#writeStatus(autoscaler, { ...base, conditions, lastScaleTime, desiredReplicas: desired }, signal)
  }

  async #writeStatus(
    autoscaler: Autoscaler,
    status: HorizontalPodAutoscalerStatus,
    signal: AbortSignal,
  ): Promise<void> {
    if (sameStatus(status, autoscaler.status)) return
    await this.#deps.autoscalers.updateStatus({ ...autoscaler, status }, signal)
  }
}
