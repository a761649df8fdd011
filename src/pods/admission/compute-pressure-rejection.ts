import { computeQosClass } from '../../model/resources/compute-qos-class.ts'
import { isCriticalPod } from '../../model/pod/critical-pod.ts'
import type { Pod } from '../../model/pod/pod.ts'
import type { NodePressures } from '../../model/resources/fit/node-pressures.ts'
import type { Rejection } from './rejection.ts'
import { toleratesTaint } from '../../model/pod/matching/tolerates-taint.ts'

const MEMORY_TAINT = { key: 'node.kubernetes.io/memory-pressure', effect: 'NoSchedule' }

/** A node that is short of something takes in critical pods only; short of memory alone also those that are promised some. */
export function computePressureRejection(
  pod: Pod,
  { pressures, taintComparisons }: { readonly pressures: NodePressures; readonly taintComparisons: boolean },
): Rejection | undefined {
  const conditions = [
    ...(pressures.memory ? ['MemoryPressure'] : []),
    ...(pressures.disk ? ['DiskPressure'] : []),
    ...(pressures.pid ? ['PIDPressure'] : []),
  ]
  if (conditions.length === 0 || isCriticalPod(pod)) return undefined
  const onlyMemory = pressures.memory && conditions.length === 1
  if (onlyMemory && bearsMemoryPressure(pod, taintComparisons)) return undefined
  return { reason: 'Evicted', message: `The node had condition: [${conditions.join(' ')}]. ` }
}

function bearsMemoryPressure(pod: Pod, comparisons: boolean): boolean {
  return computeQosClass(pod) !== 'BestEffort' || toleratesTaint(pod.spec.tolerations, MEMORY_TAINT, { comparisons })
}
