import { goCodeOf } from './driver-call.ts'
import type { DriverCall } from './driver-call.ts'
import type { MetricSet } from '../base/telemetry/metric-set.ts'

/** What is counted of devices that pods claim. */
export interface DraMetrics {
  /** All claims of a pod were prepared or given back, or could not be. */
  draOperation(operation: {
    readonly name: 'PrepareResources' | 'UnprepareResources'
    readonly failed: boolean
    readonly seconds: number
  }): void
  /** A driver answered, or did not. */
  draCall(call: DriverCall): void
  /** The record of claims made no sense and was set aside. */
  claimStateLost(): void
}

// From a tenth of a second to just below the longest call, evenly on a scale of ratios.
const [FIRST, LAST, COUNT] = [0.1, 40, 15]
const BUCKETS = Array.from({ length: COUNT }, (_, index) => FIRST * (LAST / FIRST) ** (index / (COUNT - 1)))

/** What is told of drivers and claims; in use: claims that are prepared, by driver. */
export function createDraMetrics(set: MetricSet, inUse: () => ReadonlyMap<string, number>): DraMetrics {
  const operations = set.histogram({
    name: 'dra_operations_duration_seconds',
    help: 'How long it took to prepare all claims of a pod, or to give them back.',
    labels: ['operation_name', 'is_error'],
    buckets: BUCKETS,
  })
  const calls = set.histogram({
    name: 'dra_grpc_operations_duration_seconds',
    help: 'How long drivers took to answer.',
    labels: ['driver_name', 'method_name', 'grpc_status_code'],
    buckets: BUCKETS,
  })
  set.read({ name: 'dra_resource_claims_in_use', help: 'Claims that are prepared.', labels: ['driver_name'] }, () =>
    [...inUse()].map(([driver, value]) => ({ labels: { driver_name: driver }, value })),
  )
  const lost = set.counter({
    name: 'deckhand_claim_state_lost_total',
    help: 'Records of claims that made no sense and were set aside.',
  })
  return {
    draOperation: ({ name, failed, seconds }) =>
      operations.observe({ operation_name: name, is_error: String(failed) }, seconds),
    draCall(call) {
      const { driver, method, seconds } = call
      calls.observe({ driver_name: driver, method_name: method, grpc_status_code: goCodeOf(call) }, seconds)
    },
    claimStateLost: () => lost.inc(),
  }
}
