import type { Logger } from '../../base/telemetry/logger.ts'
import { computeCandidates, computeDeviceExchange } from './compute-device-exchange.ts'
import type { DeviceExchangeInput } from './compute-device-exchange.ts'
import type { DeviceAssignments, DevicePlace } from './device-assignments.ts'
import type { DeviceInventory } from './device-inventory.ts'
import { DevicePluginError } from './device-plugin-client.ts'
import type { DevicePluginCalls } from './device-plugin-client.ts'

export interface PreferenceDeps {
  readonly inventory: Pick<DeviceInventory, 'devices'>
  readonly assignments: Pick<DeviceAssignments, 'get' | 'set' | 'list' | 'taken'>
  readonly log: Logger
}

/** Lets the plugin prefer other devices for a container. Without an answer the container keeps those that were chosen for it. */
export async function applyPreference(
  deps: PreferenceDeps,
  { place, plugin }: { readonly place: DevicePlace; readonly plugin: DevicePluginCalls },
  signal: AbortSignal,
): Promise<void> {
  const { assignments, log } = deps
  const input = toInput(deps, place)
  if (!plugin.options.getPreferredAllocationAvailable || input === undefined) return
  const { fixed } = input.own.open
  const count = input.own.ids.length
  const candidates = computeCandidates(input)
  if (fixed.length + candidates.length <= count) return
  let preferred: readonly string[]
  try {
    preferred = await plugin.prefer({ available: [...fixed, ...candidates].sort(), fixed, count }, signal)
  } catch (error) {
    if (!(error instanceof DevicePluginError)) throw error
    log.warn('device plugin does not say which devices it prefers', { ...place, error })
    return
  }
  // Others may have got devices meanwhile.
  const now = toInput(deps, place)
  if (now === undefined) return
  const { own, others } = computeDeviceExchange(preferred, now)
  assignments.set(place, { ...now.own, ids: own })
  for (const { devices, ...other } of assignments.list()) {
    const ids = other.resource === place.resource ? others.get(toKey(other)) : undefined
    if (ids !== undefined && devices.kind === 'reserved') assignments.set(other, { ...devices, ids })
  }
}

/** Undefined when the plugin knows of the devices already. */
function toInput({ inventory, assignments }: PreferenceDeps, place: DevicePlace): DeviceExchangeInput | undefined {
  const own = assignments.get(place)
  if (own?.kind !== 'reserved') return undefined
  const others = assignments
    .list()
    .filter(({ resource, uid }) => resource === place.resource && uid !== place.uid)
    .flatMap((each) => (each.devices.kind === 'reserved' ? [[toKey(each), each.devices] as const] : []))
  return {
    own,
    others: new Map(others),
    devices: inventory.devices(place.resource),
    taken: assignments.taken(place.resource),
  }
}

function toKey({ uid, container }: Pick<DevicePlace, 'uid' | 'container'>): string {
  return `${uid}/${container}`
}
