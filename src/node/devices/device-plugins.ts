import { AbortScope } from '../../base/async/abort-scope.ts'
import type { Clock } from '../../base/async/clock.ts'
import type { TaskGroup } from '../../base/async/task-group.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { DeviceInventory } from './device-inventory.ts'
import { DevicePluginClient } from './device-plugin-client.ts'
import { findRegistrationFault } from './find-registration-fault.ts'

export interface DevicePluginsDeps {
  readonly inventory: DeviceInventory
  /** The health of these devices is news. */
  readonly onHealth: (resource: string, ids: readonly string[]) => void
  readonly metrics: { devicePluginRegistered(resource: string): void }
  /** Runs the device list of each plugin for as long as its stream is open. */
  readonly tasks: TaskGroup
  readonly clock: Clock
  readonly log: Logger
}

/** A device plugin that presents itself. */
export interface DevicePluginNotice {
  readonly resource: string
  readonly socketPath: string
  readonly versions: readonly string[]
}

/** The device plugins of this node: taken into use when they present themselves, and listened to until they go. */
export class DevicePlugins {
  readonly #deps: DevicePluginsDeps
  /** By resource. */
  readonly #clients = new Map<string, { readonly client: DevicePluginClient; readonly scope: AbortScope }>()

  constructor(deps: DevicePluginsDeps) {
    this.#deps = deps
  }

  /** Takes a plugin into use; the plugin receives the error when it fails. An earlier plugin for the same resource is replaced. */
  async register(notice: DevicePluginNotice, signal: AbortSignal): Promise<void> {
    const { metrics, clock, log, tasks } = this.#deps
    const { resource, socketPath } = notice
    metrics.devicePluginRegistered(resource)
    const fault = findRegistrationFault(notice)
    if (fault !== undefined) {
      log.warn('device plugin is rejected', { resource, why: fault })
      throw new Error(fault)
    }
    const client = await DevicePluginClient.connect({ resource, socketPath, clock }, signal).catch((error: unknown) => {
      log.warn('cannot take a device plugin into use', { resource, path: socketPath, error })
      throw error
    })
    this.#end(resource, 'another plugin for the same devices came')
    const scope = new AbortScope(tasks.signal)
    this.#clients.set(resource, { client, scope })
    this.#deps.inventory.connected(resource, client)
    log.info('device plugin came', { resource, path: socketPath })
    tasks.run(`device plugin ${resource}`, async (shutdown) => {
      using _ = scope
      await this.#listen(resource, client, scope.signal)
      shutdown.throwIfAborted()
      if (this.#clients.get(resource)?.client === client) this.#clients.delete(resource)
    })
  }

  /** The plugin at this socket went away. */
  deregister(resource: string, socketPath: string): void {
    if (this.#clients.get(resource)?.client.socketPath === socketPath) this.#end(resource, 'its socket is gone')
  }

  #end(resource: string, why: string): void {
    const known = this.#clients.get(resource)
    this.#clients.delete(resource)
    known?.scope.abort(new Error(`Device plugin "${resource}" is let go: ${why}`))
  }

  /** Never fails: the end of one plugin does not affect others. */
  async #listen(resource: string, client: DevicePluginClient, signal: AbortSignal): Promise<void> {
    const { inventory, onHealth, log } = this.#deps
    using _ = client
    let error: unknown
    let reported = ''
    try {
      for await (const devices of client.devices(signal)) {
        const news = inventory.listed(resource, client, devices)
        const counts = { devices: devices.length, healthy: devices.filter(({ isHealthy }) => isHealthy).length }
        if (JSON.stringify(counts) !== reported) log.info('device plugin reported its devices', { resource, ...counts })
        reported = JSON.stringify(counts)
        if (news.length > 0) onHealth(resource, news)
      }
    } catch (caught) {
      error = caught
    }
    log.warn('device plugin is gone, its devices are not given until it is back', { resource, error })
    inventory.lost(resource, client)
  }
}
