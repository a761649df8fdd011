import type { MetricSet } from '../base/telemetry/metric-set.ts'

/** What is counted of devices and their plugins. */
export interface DeviceMetrics {
  devicePluginRegistered(resource: string): void
  /** A plugin was asked for devices of a container, with or without success. */
  devicesAllocated(resource: string, seconds: number): void
  /** What was recorded of devices could not be read. */
  deviceRecordBroken(): void
}

/** What is told of devices and their plugins. */
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
  const broken = set.counter({
    name: 'deckhand_broken_device_records_total',
    help: 'Records of devices that could not be read and were set aside.',
  })
  return {
    devicePluginRegistered: (resource) => registrations.inc({ resource_name: resource }),
    devicesAllocated: (resource, seconds) => durations.observe({ resource_name: resource }, seconds),
    deviceRecordBroken: () => broken.inc(),
  }
}
