import type { Clock } from '../../../base/async/clock.ts'
import type { Node } from '../../../model/generated/core-v1.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import type { NodeEvents } from '../../../model/events/node-events.ts'
import { requiredLabels } from '../compute-initial-node.ts'
import { computeNodeChanged, computeNodePatch } from './compute-node-patch.ts'
import { computeNodeStatus } from './compute-node-status.ts'
import type { NodeOutcome } from './compute-node-status.ts'
import { FailureLog } from '../failure-log.ts'
import { isRejection, isSilence } from '../node-api.ts'
import type { NodeApi } from '../node-api.ts'
import type { NodeInfo } from './node-info.ts'
import type { NodeProfile } from './node-profile.ts'
import type { NodeStartup } from '../node-startup.ts'
import type { OwnNodeObject } from '../own-node-object.ts'
import { reportNode } from './report-node.ts'
import { toApiTime } from '../../../model/text/api-time.ts'

export interface NodeStatusWriterDeps {
  readonly api: Pick<NodeApi, 'getNode' | 'patchNodeStatus'>
  readonly ownNode: OwnNodeObject
  readonly profile: NodeProfile
  readonly info: () => NodeInfo
  /** After this time the status is written although nothing has changed. */
  readonly reportFrequencyMs: number
  readonly events: NodeEvents
  readonly startup?: NodeStartup
  /** The pods of this node have other addresses from now on; several ranges have commas between. */
  readonly onPodCidr: (cidrs: string) => void
  /** The API is silent: connections may be dead without knowing it. */
  readonly dropConnections: () => void
  readonly clock: Clock
  readonly log: Logger
  readonly random: () => number
}

const TRIES = 5

/** Keeps the status of the Node object true, with as few writes as that takes. */
export class NodeStatusWriter {
  readonly #deps: NodeStatusWriterDeps
  readonly #failures: FailureLog
  #reportedAt: number | undefined
  /** Nodes that start together must not report together for ever. */
  #shiftMs = 0
  #podCidrs = ''
  #unschedulable = false
  #rebootReported = false
  #faults = ''

  constructor(deps: NodeStatusWriterDeps) {
    this.#deps = deps
    this.#failures = new FailureLog(deps.log, 'write the status of the node')
  }

  /** Writes the status when it has changed or is old. A few tries, then the next round has to do. */
  async update(signal: AbortSignal): Promise<void> {
    const { api, ownNode, dropConnections } = this.#deps
    for (let tries = 1; tries <= TRIES; tries += 1) {
      try {
        const known = tries === 1 ? ownNode.current : undefined
        await this.#write(known ?? (await api.getNode(signal)), signal)
        this.#failures.worked()
        return
      } catch (error) {
        signal.throwIfAborted()
        this.#failures.failed(error)
        // The object was deleted on purpose: only a restart of the agent creates it again.
        if (isRejection(error, 'NotFound')) return ownNode.noteGone()
        if (tries > 1 && isSilence(error)) dropConnections()
      }
    }
  }

  async #write(node: Node, signal: AbortSignal): Promise<void> {
    const { api, ownNode, profile, clock, random, reportFrequencyMs } = this.#deps
    this.#follow(node)
    const labels = { ...node.metadata?.labels, ...requiredLabels(profile) }
    const info = this.#deps.info()
    const outcome = computeNodeStatus(
      { ...node, metadata: { ...node.metadata, labels } },
      { profile, info, time: toApiTime(clock.now()) },
    )
    this.#logFaults(outcome.faults)
    const changed = computeNodeChanged(node, outcome.node)
    const isFirst = this.#reportedAt === undefined
    if (!changed && !this.#isOld()) return
    const patch = computeNodePatch(node, outcome.node)
    if (patch !== undefined) ownNode.note(await api.patchNodeStatus(patch, signal))
    if (isReady(outcome.node)) this.#deps.startup?.ready()
    this.#reportedAt = clock.monotonic()
    this.#shiftMs = changed || isFirst ? reportFrequencyMs * (random() - 0.5) : 0
    this.#report(outcome, info)
  }

  #isOld(): boolean {
    const { clock, reportFrequencyMs } = this.#deps
    return this.#reportedAt === undefined || clock.monotonic() - this.#reportedAt >= reportFrequencyMs + this.#shiftMs
  }

  /** What others decide in the spec of the Node object. */
  #follow({ spec }: Node): void {
    const { events, profile, onPodCidr } = this.#deps
    const podCidrs = (spec?.podCIDRs ?? []).join(',')
    if (podCidrs !== '' && podCidrs !== this.#podCidrs) onPodCidr(podCidrs)
    this.#podCidrs = podCidrs
    const unschedulable = spec?.unschedulable === true
    if (unschedulable === this.#unschedulable) return
    this.#unschedulable = unschedulable
    reportNode(events, profile.nodeName, [unschedulable ? 'NodeNotSchedulable' : 'NodeSchedulable'])
  }

  #report({ events: reasons, rebooted }: NodeOutcome, { identity }: NodeInfo): void {
    const { events, profile } = this.#deps
    reportNode(events, profile.nodeName, reasons)
    if (!rebooted || this.#rebootReported) return
    this.#rebootReported = true
    const message = `Node ${profile.nodeName} has been rebooted, boot id: ${identity.bootId}`
    events.record({ type: 'Warning', reason: 'Rebooted', message })
  }

  #logFaults(faults: readonly string[]): void {
    const text = faults.join('; ')
    if (text !== this.#faults && text !== '') this.#deps.log.warn('cannot say all about the node', { faults })
    this.#faults = text
  }
}

function isReady({ status }: Node): boolean {
  return (status?.conditions ?? []).some((condition) => condition.type === 'Ready' && condition.status === 'True')
}
