import { goCodeOf } from './driver-call.ts'
import type { DriverCall } from './driver-call.ts'
import type { MetricSet } from '../base/telemetry/metric-set.ts'

/** What is timed of CSI drivers. */
export interface CsiMetrics {
  /** A call ended. */
  csiCall(call: DriverCall): void
}

// As in the Go kubelet, so that its dashboards fit.
const BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600]

export function createCsiMetrics(set: MetricSet): CsiMetrics {
  const calls = set.histogram({
    name: 'csi_operations_seconds',
    help: 'How long calls to CSI drivers take.',
    labels: ['driver_name', 'method_name', 'grpc_status_code', 'migrated'],
    buckets: BUCKETS,
  })
  return {
    csiCall(call) {
      const { driver, method, seconds } = call
      const labels = { driver_name: driver, method_name: method, grpc_status_code: goCodeOf(call), migrated: 'false' }
      calls.observe(labels, seconds)
    },
  }
}
