import type { MetricSet } from '../base/telemetry/metric-set.ts'

/** A call to a driver on this node that ended. */
export interface DriverCall {
  readonly driver: string
  /** With its service, as in "/csi.v1.Node/NodeGetInfo". */
  readonly method: string
  /** As gRPC names it. */
  readonly code: string
  readonly seconds: number
  /** For a volume that is written as an old kind and was translated for its CSI driver. */
  readonly isMigrated?: boolean | undefined
}

// Go's own spelling of two of the codes, which its dashboards use.
const GO_CODES: ReadonlyMap<string, string> = new Map([
  ['Ok', 'OK'],
  ['Cancelled', 'Canceled'],
])

/** How the call ended, as the Go kubelet's metrics spell it. */
function goCodeOf({ code }: Pick<DriverCall, 'code'>): string {
  return GO_CODES.get(code) ?? code
}

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
}

// From a tenth of a second to just below the longest call, evenly on a scale of ratios.
const [FIRST, LAST, COUNT] = [0.1, 40, 15]
const DRA_BUCKETS = Array.from({ length: COUNT }, (_, index) => FIRST * (LAST / FIRST) ** (index / (COUNT - 1)))

/** Metrics of drivers and claims; `inUse` gives the number of prepared claims by driver. */
export function createDraMetrics(set: MetricSet, inUse: () => ReadonlyMap<string, number>): DraMetrics {
  const operations = set.histogram({
    name: 'dra_operations_duration_seconds',
    help: 'How long it took to prepare all claims of a pod, or to give them back.',
    labels: ['operation_name', 'is_error'],
    buckets: DRA_BUCKETS,
  })
  const calls = set.histogram({
    name: 'dra_grpc_operations_duration_seconds',
    help: 'How long drivers took to answer.',
    labels: ['driver_name', 'method_name', 'grpc_status_code'],
    buckets: DRA_BUCKETS,
  })
  set.read({ name: 'dra_resource_claims_in_use', help: 'Claims that are prepared.', labels: ['driver_name'] }, () =>
    [...inUse()].map(([driver, value]) => ({ labels: { driver_name: driver }, value })),
  )
  return {
    draOperation: ({ name, failed, seconds }) =>
      operations.observe({ operation_name: name, is_error: String(failed) }, seconds),
    draCall(call) {
      const { driver, method, seconds } = call
      calls.observe({ driver_name: driver, method_name: method, grpc_status_code: goCodeOf(call) }, seconds)
    },
  }
}

/** What is timed of CSI drivers. */
export interface CsiMetrics {
  /** A call ended. */
  csiCall(call: DriverCall): void
}

// As in the Go kubelet, so that its dashboards fit.
const CSI_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600]

export function createCsiMetrics(set: MetricSet): CsiMetrics {
  const calls = set.histogram({
    name: 'csi_operations_seconds',
    help: 'How long calls to CSI drivers take.',
    labels: ['driver_name', 'method_name', 'grpc_status_code', 'migrated'],
    buckets: CSI_BUCKETS,
  })
  return {
    csiCall(call) {
      const { driver, method, seconds } = call
      const migrated = String(call.isMigrated === true)
      calls.observe({ driver_name: driver, method_name: method, grpc_status_code: goCodeOf(call), migrated }, seconds)
    },
  }
}

/** What is counted of devices and their plugins. */
export interface DeviceMetrics {
  devicePluginRegistered(resource: string): void
  /** A plugin was asked for devices of a container, with or without success. */
  devicesAllocated(resource: string, seconds: number): void
}

export function createDeviceMetrics(set: MetricSet): DeviceMetrics {
  const labels = ['resource_name'] as const
  const registrations = set.counter({
    name: 'kubelet_device_plugin_registration_total',
    help: 'How often device plugins presented themselves.',
    labels,
  })
  const durations = set.histogram({
    name: 'kubelet_device_plugin_alloc_duration_seconds',
    help: 'How long device plugins took to give devices to a container.',
    labels,
  })
  return {
    devicePluginRegistered: (resource) => registrations.inc({ resource_name: resource }),
    devicesAllocated: (resource, seconds) => durations.observe({ resource_name: resource }, seconds),
  }
}
