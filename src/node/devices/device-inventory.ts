import type { Clock } from '../../base/async/clock.ts'
import type { DeviceList, PluginDevice } from './device.ts'
import type { DevicePluginCalls } from './device-plugin-client.ts'
import { WatchedValue } from '../../base/async/watched-value.ts'

/** How many devices there are of each resource, and how many of them can be given. */
export interface DeviceCounts {
  readonly capacity: ReadonlyMap<string, number>
  readonly allocatable: ReadonlyMap<string, number>
}

interface DeviceResource {
  /** As the plugin last reported them. */
  readonly devices: DeviceList
  /** Undefined while it is away. */
  readonly plugin: DevicePluginCalls | undefined
  /** The plugin has reported its devices since it came. */
  readonly isListed: boolean
  /** The plugin wants a call for each container before it starts; undefined while it never came. */
  readonly needsPreStart?: boolean | undefined
  /** On the monotonic clock: since when it is away. */
  readonly awaySince: number | undefined
}

export interface DeviceInventoryDeps {
  /** The resources that an earlier agent knew. */
  readonly recorded: Iterable<string>
  /** Devices came, went, or changed their health. */
  readonly onChange: () => void
  readonly clock: Clock
}

/** A plugin that is away for longer is not expected back. */
const AWAY_MS = 300_000

/** The devices of this node, as their plugins report them. */
export class DeviceInventory {
  readonly #deps: DeviceInventoryDeps
  readonly #resources = new Map<string, DeviceResource>()
  /** Resources whose plugins did not come back: the node has none of them any more. */
  readonly #dropped = new Set<string>()
  readonly #changes = new WatchedValue(0)

  constructor(deps: DeviceInventoryDeps) {
    this.#deps = deps
    const awaySince = deps.clock.monotonic()
    for (const name of deps.recorded)
      this.#resources.set(name, { devices: new Map(), plugin: undefined, isListed: false, awaySince })
  }

  get resources(): readonly string[] {
    return [...this.#resources.keys()].sort()
  }

  knows(resource: string): boolean {
    return this.#resources.has(resource)
  }

  /** As they were last reported; a plugin that is away has no healthy ones. */
  devices(resource: string): DeviceList {
    const known = this.#resources.get(resource)
    if (known === undefined) return new Map()
    if (known.plugin !== undefined && known.isListed) return known.devices
    return new Map([...known.devices].map(([id, device]) => [id, { ...device, isHealthy: false }]))
  }

  /** What the plugin last said of a device's health; undefined when it never did. */
  health(resource: string, id: string): 'Healthy' | 'Unhealthy' | 'Unknown' | undefined {
    if (this.#dropped.has(resource)) return 'Unknown'
    const device = this.#resources.get(resource)?.devices.get(id)
    return device && (device.isHealthy ? 'Healthy' : 'Unhealthy')
  }

  plugin(resource: string): DevicePluginCalls | undefined {
    return this.#resources.get(resource)?.plugin
  }

  /** The plugin wants a call for each container before it starts, also while it is away. */
  needsPreStart(resource: string): boolean {
    return this.#resources.get(resource)?.needsPreStart === true
  }

  /** A plugin is there and has reported its devices. */
  isReady(resource: string): boolean {
    const known = this.#resources.get(resource)
    return known?.plugin !== undefined && known.isListed
  }

  counts(): DeviceCounts {
    const gone = [...this.#dropped].map((name) => [name, 0] as const)
    const count = (name: string) => [...this.devices(name).values()]
    return {
      capacity: new Map([...gone, ...this.resources.map((name) => [name, count(name).length] as const)]),
      allocatable: new Map([
        ...gone,
        ...this.resources.map((name) => [name, count(name).filter(({ isHealthy }) => isHealthy).length] as const),
      ]),
    }
  }

  connected(resource: string, plugin: DevicePluginCalls): void {
    this.#dropped.delete(resource)
    const devices = this.#resources.get(resource)?.devices ?? new Map()
    this.#set(resource, {
      devices,
      plugin,
      isListed: false,
      needsPreStart: plugin.options.preStartRequired,
      awaySince: undefined,
    })
  }

  /** Returns the ids of devices whose health changed. */
  listed(resource: string, plugin: DevicePluginCalls, list: readonly PluginDevice[]): readonly string[] {
    const known = this.#resources.get(resource)
    if (known?.plugin !== plugin) return []
    const news = list.filter(({ id, isHealthy }) => known.devices.get(id)?.isHealthy !== isHealthy)
    const devices = new Map(list.map((device) => [device.id, device]))
    // Some plugins report the same again and again.
    if (!known.isListed || !sameDevices(known.devices, devices))
      this.#set(resource, { ...known, devices, isListed: true })
    return news.map(({ id }) => id)
  }

  lost(resource: string, plugin: DevicePluginCalls): void {
    const known = this.#resources.get(resource)
    if (known?.plugin !== plugin) return
    const awaySince = this.#deps.clock.monotonic()
    this.#set(resource, { ...known, plugin: undefined, isListed: false, awaySince })
  }

  /** How much longer a plugin may be away; undefined while it is not. */
  patienceMs(resource: string): number | undefined {
    const awaySince = this.#resources.get(resource)?.awaySince
    return awaySince === undefined ? undefined : Math.max(0, awaySince + AWAY_MS - this.#deps.clock.monotonic())
  }

  /** Gives up those that have been away for too long, and gives their names. */
  dropAway(): readonly string[] {
    const away = this.resources.filter((name) => this.patienceMs(name) === 0)
    for (const name of away) {
      this.#resources.delete(name)
      this.#dropped.add(name)
    }
    if (away.length > 0) this.#report()
    return away
  }

  /** Resolves at the next change of any kind. */
  async nextChange(signal: AbortSignal): Promise<void> {
    const seen = this.#changes.value
    await this.#changes.until((count) => count !== seen, signal)
  }

  #set(resource: string, state: DeviceResource): void {
    this.#resources.set(resource, state)
    this.#report()
  }

  #report(): void {
    this.#changes.set(this.#changes.value + 1)
    this.#deps.onChange()
  }
}

function sameDevices(a: DeviceList, b: DeviceList): boolean {
  const text = (list: DeviceList) => JSON.stringify([...list.values()].sort((x, y) => (x.id < y.id ? -1 : 1)))
  return a.size === b.size && text(a) === text(b)
}
