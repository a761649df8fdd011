import type { Logger } from '../../base/telemetry/logger.ts'
import type { PodEvent } from './pod-events.ts'

/** Events for the administrators of the node, with Kubernetes' own reasons. */
export type NodeEvent = Omit<PodEvent, 'fieldPath' | 'about' | 'annotations'>

/** Where events about the node go. */
export interface NodeEvents {
  record(event: NodeEvent): void
}

/** Without an API server events are log lines. */
export function createLoggedNodeEvents(log: Logger, node: string): NodeEvents {
  return {
    record({ type, reason, message }) {
      if (type === 'Warning') log.warn('event', { node, reason, message })
      else log.info('event', { node, reason, message })
    },
  }
}
