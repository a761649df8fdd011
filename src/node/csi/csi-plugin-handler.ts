import type { Clock } from '../../base/async/clock.ts'
import { KeyedLock } from '../../base/async/keyed-lock.ts'
import { createCsiDriver } from '../../protocols/csi/create-csi-driver.ts'
import { CsiCallError } from '../../protocols/csi/csi-call-error.ts'
import type { CsiDriverRegistry } from './csi-driver-registry.ts'
import { CsiNodeClient } from '../../protocols/csi/csi-node-client.ts'
import type { DriverCall } from '../../metrics/driver-metrics.ts'
import type { DriverInfo } from './csi-node-object.ts'
import { compareCsiVersions, parseCsiVersion } from '../../protocols/csi/parse-csi-version.ts'
import type { CsiVersion } from '../../protocols/csi/parse-csi-version.ts'

export interface CsiPluginHandlerDeps {
  readonly registry: CsiDriverRegistry
  /** Where drivers of this node are reported; undefined on a node without an API. */
  readonly objects:
    | {
        install(driver: string, info: DriverInfo, signal: AbortSignal): Promise<void>
        uninstall(driver: string): void
      }
    | undefined
  readonly onCall: (call: DriverCall) => void
  readonly clock: Clock
}

/** A driver as the plugin watcher presents it. */
interface Plugin {
  readonly name: string
  readonly endpoint: string
  readonly versions: readonly string[]
}

// A driver that serves a moment after it registers is not rejected.
const ASK_PAUSES_MS = [10, 50, 250]
const never = new AbortController().signal

/** Takes CSI drivers into use: what PluginRegistrations calls for plugins of the type CSIPlugin. */
export class CsiPluginHandler {
  readonly #deps: CsiPluginHandlerDeps
  /** Two sockets may be of the same driver. */
  readonly #lock = new KeyedLock()

  constructor(deps: CsiPluginHandlerDeps) {
    this.#deps = deps
  }

  async register(plugin: Plugin, signal: AbortSignal): Promise<void> {
    const version = parseCsiVersion(plugin.name, plugin.versions)
    await this.#lock.hold(plugin.name, () => this.#register(plugin, version, signal), signal)
  }

  /** Only the socket in use takes its driver with it: another of the same name may have come in its place. */
  async deregister({ name, endpoint }: Plugin): Promise<void> {
    const { registry, objects } = this.#deps
    const end = async () => {
      if (registry.get(name)?.endpoint !== endpoint) return
      registry.set(name, undefined)
      objects?.uninstall(name)
    }
    await this.#lock.hold(name, end, never)
  }

  async #register({ name, endpoint }: Plugin, version: CsiVersion, signal: AbortSignal): Promise<void> {
    const { registry, objects, onCall, clock } = this.#deps
    const before = registry.get(name)
    if (before !== undefined && compareCsiVersions(before.version, version) >= 0) {
      throw new Error(
        `Cannot register CSI driver "${name}" with version ${version.join('.')}: ` +
          `a driver of this name is registered with version ${before.version.join('.')} already, expected a higher one`,
      )
    }
    const client = new CsiNodeClient({ driver: name, socketPath: endpoint, onCall, clock })
    const info = await this.#ask(name, client, signal)
    await objects?.install(name, info, signal)
    const driver = createCsiDriver(client, { name, nodeId: info.nodeId })
    registry.set(name, { driver, endpoint, version, readInfo: (s) => readInfo(name, client, s) })
  }

  async #ask(name: string, client: CsiNodeClient, signal: AbortSignal): Promise<DriverInfo> {
    for (const ms of ASK_PAUSES_MS) {
      try {
        return await readInfo(name, client, signal)
      } catch (error) {
        if (!(error instanceof CsiCallError) || error.code !== 'Unavailable') throw error
      }
      await this.#deps.clock.sleep(ms, signal)
    }
    return await readInfo(name, client, signal)
  }
}

async function readInfo(name: string, client: CsiNodeClient, signal: AbortSignal): Promise<DriverInfo> {
  const { nodeId, maxVolumesPerNode, accessibleTopology } = await client.call('nodeGetInfo', {}, signal)
  if (nodeId === '') throw new Error(`Cannot register CSI driver "${name}": it has no id for this node`)
  return { nodeId, maxVolumes: maxVolumesPerNode, topology: accessibleTopology?.segments ?? {} }
}
