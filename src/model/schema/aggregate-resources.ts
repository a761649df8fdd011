import type { Container, PodSpec } from '../generated/core-v1.ts'
import { tryParseQuantity } from '../resources/quantity.ts'
import type { Quantity } from '../resources/quantity.ts'

type Amounts = Map<string, Quantity>

/**
 * What the containers of a pod need together: the regular ones and sidecars at once, or one init container beside the sidecars
 * started before it, whichever is more.
 */
export function aggregateResources(spec: PodSpec, which: 'requests' | 'limits'): ReadonlyMap<string, Quantity> {
  const running: Amounts = new Map()
  for (const container of spec.containers) add(running, amountsOf(container, which))
  const sidecars: Amounts = new Map()
  const starting: Amounts = new Map()
  for (const container of spec.initContainers ?? []) {
    const own = amountsOf(container, which)
    if (container.restartPolicy === 'Always') {
      add(running, own)
      add(sidecars, own)
      raise(starting, sidecars)
    } else {
      const beside = new Map(sidecars)
      add(beside, own)
      raise(starting, beside)
    }
  }
  raise(running, starting)
  return running
}

function amountsOf(container: Container, which: 'requests' | 'limits'): Amounts {
  const amounts: Amounts = new Map()
  for (const [name, text] of Object.entries(container.resources?.[which] ?? {})) {
    const quantity = tryParseQuantity(text)
    if (quantity !== undefined) amounts.set(name, quantity)
  }
  return amounts
}

function add(total: Amounts, more: Amounts): void {
  for (const [name, { nanos, format }] of more) {
    const before = total.get(name)
    total.set(name, { nanos: nanos + (before?.nanos ?? 0n), format: before?.format ?? format })
  }
}

function raise(total: Amounts, atLeast: Amounts): void {
  for (const [name, quantity] of atLeast) {
    if (quantity.nanos > (total.get(name)?.nanos ?? -1n)) total.set(name, quantity)
  }
}
