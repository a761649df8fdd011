import { isIPv4 } from 'node:net'
import { isRecord } from '../../base/document/is-record.ts'

/** The addresses that a pod got by the result of ADD, IPv4 first; results of all versions of CNI. */
export function readAddresses(result: unknown, device: string): readonly string[] {
  if (!isRecord(result)) return []
  const { ips, ip4, ip6, interfaces } = result
  // Before version 0.3.0 there was one of each family.
  const old = [ip4, ip6].flatMap((entry) => (isRecord(entry) ? [toAddress(entry['ip'])] : []))
  const entries = Array.isArray(ips) ? ips.filter(isRecord) : []
  const own = entries.filter(({ interface: index }) => isOfPod(interfaces, index, device))
  const addresses = [...old, ...own.map(({ address }) => toAddress(address))].filter((address) => address !== '')
  return addresses.toSorted((a, b) => Number(isIPv4(b)) - Number(isIPv4(a)))
}

/** An address may be that of a device of the node, such as a bridge. */
function isOfPod(interfaces: unknown, index: unknown, device: string): boolean {
  if (typeof index !== 'number' || !Array.isArray(interfaces)) return true
  const found: unknown = interfaces[index]
  return isRecord(found) && found['name'] === device && found['sandbox'] !== undefined && found['sandbox'] !== ''
}

/** "10.1.2.3/16" without the size of its subnet. */
function toAddress(text: unknown): string {
  return typeof text === 'string' ? (text.split('/')[0] ?? '') : ''
}
