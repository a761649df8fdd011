import type { Node } from '../../model/generated/core-v1.ts'
import type { NodeView } from './page-message.ts'

/** A node as the page shows it. */
export function computeNodeView({ metadata = {}, spec = {}, status = {} }: Node): NodeView {
  const info = status.nodeInfo
  return {
    name: metadata.name ?? '',
    conditions: (status.conditions ?? []).map(({ type, status: value, reason, message, lastTransitionTime }) => ({
      type,
      status: value,
      reason: reason ?? '',
      message: message ?? '',
      since: lastTransitionTime ?? '',
      // All others name something that is wrong.
      isGood: value === (type === 'Ready' ? 'True' : 'False'),
    })),
    isUnschedulable: spec.unschedulable ?? false,
    taints: (spec.taints ?? []).map(
      ({ key, value, effect }) => `${key}${value === undefined || value === '' ? '' : `=${value}`}:${effect}`,
    ),
    addresses: (status.addresses ?? []).map(({ type, address }) => `${address} (${type})`),
    capacity: toTexts(status.capacity),
    allocatable: toTexts(status.allocatable),
    info:
      info === undefined
        ? []
        : [
            ['Kubelet', info.kubeletVersion],
            ['Runtime', info.containerRuntimeVersion],
            ['Kernel', info.kernelVersion],
            ['System', info.osImage],
            ['Architecture', info.architecture],
          ],
  }
}

function toTexts(quantities: Readonly<Record<string, unknown>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(quantities).map(([name, value]) => [name, String(value)]))
}
