import type { DeviceList, ReservedDevices } from './device.ts'

/** The containers and devices that take part when the plugin is asked which devices a container should have. */
export interface DeviceExchangeInput {
  readonly own: ReservedDevices
  /** Devices of other containers that their plugin has not allocated either, by any key. */
  readonly others: ReadonlyMap<string, ReservedDevices>
  readonly devices: DeviceList
  /** All that containers have. */
  readonly taken: ReadonlySet<string>
}

/** The devices that the container has now, and those of the containers with which it exchanged some. */
export interface DeviceExchange {
  readonly own: readonly string[]
  readonly others: ReadonlyMap<string, readonly string[]>
}

/** The ids from which the plugin may choose, besides those that are fixed: free ones, own ones, and those that others would exchange. */
export function computeCandidates({ own, others, devices, taken }: DeviceExchangeInput): readonly string[] {
  const { fixed, nodes } = own.open
  const movable = new Set([...others.values()].flatMap(({ ids, open }) => ids.filter((id) => !open.fixed.includes(id))))
  return [...devices.values()]
    .filter(({ isHealthy }) => isHealthy)
    .filter((device) => nodes === undefined || device.nodes.some((node) => nodes.has(node)))
    .map(({ id }) => id)
    .filter((id) => !fixed.includes(id) && (!taken.has(id) || own.ids.includes(id) || movable.has(id)))
    .sort()
}

/** What the plugin prefers, as far as it is still available: a container that gives up a device gets another that suits as well. */
export function computeDeviceExchange(preferred: readonly string[], input: DeviceExchangeInput): DeviceExchange {
  const { own, others, devices } = input
  const { fixed } = own.open
  const count = own.ids.length - fixed.length
  const candidates = computeCandidates(input)
  const wanted = [...new Set(preferred)].filter((id) => candidates.includes(id)).slice(0, count)
  const spare = own.ids.filter((id) => !fixed.includes(id) && !wanted.includes(id))
  const kept = wanted.filter((id) => own.ids.includes(id))
  const changed = new Map<string, readonly string[]>()
  const got: string[] = []
  for (const id of wanted.filter((each) => !own.ids.includes(each))) {
    const holder = [...others].find(([, { ids }]) => ids.includes(id))
    if (holder === undefined) {
      spare.shift()
      got.push(id)
      continue
    }
    const [key, { ids, open }] = holder
    const index = spare.findIndex((each) => suits(devices, each, open.nodes))
    if (index === -1) continue
    const [given = ''] = spare.splice(index, 1)
    changed.set(
      key,
      (changed.get(key) ?? ids).map((each) => (each === id ? given : each)),
    )
    got.push(id)
  }
  return { own: [...fixed, ...kept, ...got, ...spare], others: changed }
}

function suits(devices: DeviceList, id: string, nodes: ReadonlySet<number> | undefined): boolean {
  return nodes === undefined || devices.get(id)?.nodes.some((node) => nodes.has(node)) === true
}
