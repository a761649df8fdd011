import type { Clock } from '../../../base/async/clock.ts'
import { waitForReady } from '../../../protocols/grpc/grpc-connection.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import type { DeviceHealth, DeviceName, ReportedHealth } from './device-health.ts'
import { DraCallError } from '../dra-plugin.ts'
import type { DraPlugin } from '../dra-plugin.ts'
import { HealthStatus } from '../generated/dra-health-v1alpha1.ts'
import type { DeviceHealth as HealthMessage } from '../generated/dra-health-v1alpha1.ts'

export interface WatchDeviceHealthDeps {
  readonly health: DeviceHealth
  /** Does another plugin of the same driver report health already? */
  readonly isLastOf: (plugin: DraPlugin) => boolean
  readonly onChange: (devices: readonly DeviceName[]) => void
  readonly clock: Clock
  readonly log: Logger
}

const RETRY_MS = 5000
// The longest message that the API accepts.
const LONGEST_MESSAGE = 1024
const ELLIPSIS = '...'

/** Follows the health of a plugin's devices until the signal aborts. A driver without this call is asked again after it was away. */
export async function watchDeviceHealth(
  deps: WatchDeviceHealthDeps,
  plugin: DraPlugin,
  signal: AbortSignal,
): Promise<never> {
  const { health, isLastOf, onChange, clock, log } = deps
  for (;;) {
    await waitForReady(plugin, signal)
    try {
      for await (const { devices } of plugin.watchHealth(signal))
        onChange(health.update(plugin.driver, devices.map(toHealth)))
    } catch (error) {
      if (!(error instanceof DraCallError)) throw error
      if (error.code === 'Unimplemented') {
        while (plugin.connected) await plugin.nextChange(signal)
        continue
      }
      log.debug('a driver stopped reporting the health of its devices, will ask again', {
        driver: plugin.driver,
        error,
      })
    }
    if (isLastOf(plugin)) onChange(health.clear(plugin.driver))
    await clock.sleep(RETRY_MS, signal)
  }
}

function toHealth({ device, health, healthCheckTimeoutSeconds, message }: HealthMessage): ReportedHealth {
  const seconds = Number(healthCheckTimeoutSeconds)
  return {
    poolName: device?.poolName ?? '',
    deviceName: device?.deviceName ?? '',
    health: toWord(health),
    timeoutMs: seconds > 0 ? seconds * 1000 : 0,
    message: message.length <= LONGEST_MESSAGE ? message : `${message.slice(0, LONGEST_MESSAGE - 3)}${ELLIPSIS}`,
  }
}

function toWord(health: HealthMessage['health']): ReportedHealth['health'] {
  if (health === HealthStatus.HEALTHY) return 'Healthy'
  return health === HealthStatus.UNHEALTHY ? 'Unhealthy' : 'Unknown'
}
