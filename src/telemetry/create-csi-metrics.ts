import type { MetricSet } from './metric-set.ts'

/** What is timed of CSI drivers. */
export interface CsiMetrics {
  /** A call ended; the method with its service, the code as gRPC calls it. */
  csiCall(call: {
    readonly driver: string
    readonly method: string
    readonly code: string
    readonly seconds: number
  }): void
}

// As in the Go kubelet, so that its dashboards fit.
const BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600]
// Go's own spelling of two of the codes.
const GO_CODES: ReadonlyMap<string, string> = new Map([
  ['Ok', 'OK'],
  ['Cancelled', 'Canceled'],
])

export function createCsiMetrics(set: MetricSet): CsiMetrics {
  const calls = set.histogram({
    name: 'csi_operations_seconds',
    help: 'How long calls to CSI drivers take.',
    labels: ['driver_name', 'method_name', 'grpc_status_code', 'migrated'],
    buckets: BUCKETS,
  })
  return {
    csiCall({ driver, method, code, seconds }) {
      const grpc_status_code = GO_CODES.get(code) ?? code
      calls.observe({ driver_name: driver, method_name: method, grpc_status_code, migrated: 'false' }, seconds)
    },
  }
}
