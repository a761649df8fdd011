const BYTE = 256
const PODS_PER_NODE = 254

/** The address of a node, from 10.200.0.0/13: no packet is ever sent to it. */
export function toNodeAddress(index: number): string {
  return `10.${200 + Math.floor(index / BYTE ** 2)}.${Math.floor(index / BYTE) % BYTE}.${index % BYTE}`
}

/** The address of the nth pod of a node, from 100.64.0.0/10; a node has 254 of them, then they come again. */
export function toPodAddress(index: number, nth: number): string {
  const block = index % (64 * BYTE)
  return `100.${64 + Math.floor(block / BYTE)}.${block % BYTE}.${1 + ((nth - 1) % PODS_PER_NODE)}`
}
