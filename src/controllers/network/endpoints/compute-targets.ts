import type { Endpoint, EndpointSlice } from '../../../model/generated/api-groups.ts'
import { parseIp } from '../../../model/text/ip-number.ts'
import type { IpFamily } from '../../../model/text/ip-number.ts'
import type { Live } from '../../engine/live-object.ts'

/** Where a connection can be sent. */
export interface EndpointTarget {
  readonly address: string
  readonly port: number
  /** Whether it runs on this node. */
  readonly isLocal: boolean
}

interface Found {
  readonly target: EndpointTarget
  readonly isReady: boolean
  /** Ending, and still able to answer. */
  readonly isDraining: boolean
}

/** Where connections to a port of a service may go, in one family: anywhere, and on this node alone. */
export function computeTargets(
  slices: readonly Live<EndpointSlice>[],
  wanted: { readonly name: string; readonly protocol: string; readonly family: IpFamily; readonly nodeName: string },
): { readonly all: readonly EndpointTarget[]; readonly local: readonly EndpointTarget[] } {
  const found = new Map<string, Found>()
  for (const { addressType, ports = [], endpoints = [] } of slices) {
    const port = ports.find((each) => each.name === wanted.name && (each.protocol ?? 'TCP') === wanted.protocol)?.port
    if (addressType !== wanted.family || !port) continue
    for (const endpoint of endpoints) {
      const [address = ''] = endpoint.addresses
      if (parseIp(address)?.family !== wanted.family) continue
      const key = `${address} ${port}`
      const isLocal = endpoint.nodeName === wanted.nodeName
      const next = { target: { address, port, isLocal }, ...stateOf(endpoint) }
      // A target in two slices counts by the entry that is not ending.
      if (found.get(key)?.isReady !== true) found.set(key, next)
    }
  }
  const usable = [...found.values()].toSorted((a, b) => (a.target.address < b.target.address ? -1 : 1))
  return { all: choose(usable), local: choose(usable.filter(({ target }) => target.isLocal)) }
}

function stateOf({ conditions = {} }: Endpoint): Pick<Found, 'isReady' | 'isDraining'> {
  const { ready = true, serving = ready, terminating = false } = conditions
  return { isReady: ready, isDraining: serving && terminating }
}

/** The ready ones; while there are none, those that end and still answer. */
function choose(found: readonly Found[]): readonly EndpointTarget[] {
  const ready = found.filter(({ isReady }) => isReady)
  return (ready.length > 0 ? ready : found.filter(({ isDraining }) => isDraining)).map(({ target }) => target)
}
