import type { NodeEvents } from '../../../model/events/node-events.ts'

/** Records what is now true of the node, one event for each reason. */
export function reportNode(events: NodeEvents, nodeName: string, reasons: readonly string[]): void {
  for (const reason of reasons) {
    events.record({ type: 'Normal', reason, message: `Node ${nodeName} status is now: ${reason}` })
  }
}
