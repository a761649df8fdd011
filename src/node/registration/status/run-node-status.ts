import type { Wakeup } from '../../../base/async/wakeup.ts'
import { NodeStatusWriter } from './node-status-writer.ts'
import type { NodeStatusWriterDeps } from './node-status-writer.ts'
import { registerNode } from '../register-node.ts'
import type { RegistrationDeps } from '../register-node.ts'

export interface NodeStatusDeps extends NodeStatusWriterDeps, RegistrationDeps {
  readonly api: NodeStatusWriterDeps['api'] & RegistrationDeps['api']
  /** False: another client creates the Node object. */
  readonly register: boolean
  /** How often the state of the node is checked. */
  readonly updateFrequencyMs: number
  /** Rung when something about the node has changed: then it is not waited. */
  readonly wakeup: Wakeup
}

// So that the nodes of a cluster do not march in step.
const JITTER = 0.04

/** Registers the node, then keeps its status true until the signal aborts. */
export async function runNodeStatus(deps: NodeStatusDeps, signal: AbortSignal): Promise<void> {
  const { events, register, wakeup, clock, random, updateFrequencyMs } = deps
  events.record({ type: 'Normal', reason: 'Starting', message: 'Starting kubelet.' })
  if (register) await registerNode(deps, signal)
  const writer = new NodeStatusWriter(deps)
  for (;;) {
    await writer.update(signal)
    await wakeup.wait({ clock, ms: updateFrequencyMs * (1 + JITTER * random()) }, signal)
  }
}
