import { parseAmounts } from '../../../model/resources/compute-pod-requests.ts'
import type { ResourceAmounts } from '../../../model/resources/compute-pod-requests.ts'
import type { Container, EphemeralContainer, ResourceFieldSelector } from '../../../model/generated/core-v1.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import { parseQuantity, quantityMilliValue, quantityValue } from '../../../model/resources/quantity.ts'
import type { Quantity } from '../../../model/resources/quantity.ts'
import { ContainerConfigError } from '../pod-config-error.ts'

export interface ResourceInfo {
  readonly pod: Pod
  /** The container that asks, and is meant when no other is named. */
  readonly container: Container | EphemeralContainer
  /** Stands in for limits that are not set. */
  readonly nodeAllocatable: ResourceAmounts
}

const RESOURCE = /^(limits|requests)\.(cpu|memory|ephemeral-storage|hugepages-.+)$/
const ONE = parseQuantity('1')
const NOTHING = parseQuantity('0')

/** One request or limit as a whole number of divisors, rounded up. */
export function computeResourceValue(selector: ResourceFieldSelector, info: ResourceInfo): string {
  const [, side, name] = RESOURCE.exec(selector.resource) ?? []
  if (side === undefined || name === undefined) {
    throw new ContainerConfigError(`unsupported container resource: ${selector.resource}`)
  }
  const container = chooseContainer(selector.containerName, info)
  const amount =
    side === 'requests' ? parseAmounts(container.resources?.requests).get(name) : limitOf(name, container, info)
  return `${divideUp(amount ?? NOTHING, parseDivisor(selector.divisor), name)}`
}

function chooseContainer(name: string | undefined, { pod, container }: ResourceInfo): Container | EphemeralContainer {
  if (name === undefined || name === '') return container
  const found = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])].find((other) => other.name === name)
  if (found === undefined) throw new ContainerConfigError(`container ${name} not found`)
  return found
}

/** A container without a limit may use what its pod may, or all that the node has for pods. */
function limitOf(name: string, container: Container | EphemeralContainer, info: ResourceInfo): Quantity | undefined {
  const own = parseAmounts(container.resources?.limits).get(name)
  if (isSet(own) || name.startsWith('hugepages-')) return own
  const ofPod = name === 'ephemeral-storage' ? undefined : parseAmounts(info.pod.spec.resources?.limits).get(name)
  return isSet(ofPod) ? ofPod : info.nodeAllocatable.get(name)
}

function isSet(amount: Quantity | undefined): boolean {
  return amount !== undefined && amount.nanos > 0n
}

function parseDivisor(text: string | undefined): Quantity {
  const divisor = text === undefined || text === '' ? ONE : parseQuantity(text)
  return divisor.nanos === 0n ? ONE : divisor
}

function divideUp(amount: Quantity, divisor: Quantity, name: string): bigint {
  const measure = name === 'cpu' ? quantityMilliValue : quantityValue
  const [dividend, part] = [measure(amount), measure(divisor)]
  return (dividend + part - 1n) / part
}
