import type { PodStatus } from '../../model/generated/core-v1.ts'

type PodIps = Pick<PodStatus, 'podIP' | 'podIPs'>
type HostIps = Pick<PodStatus, 'hostIP' | 'hostIPs'>

interface PodIpsInput {
  readonly hostNetwork: boolean
  /** Of the sandbox in use; empty when there is none. */
  readonly sandboxIps: readonly string[]
  readonly nodeIps: readonly string[]
  readonly known: PodIps | undefined
}

/** The node's first address, and the first of the other family. */
export function computeHostIps(nodeIps: readonly string[]): HostIps {
  const ips = onePerFamily(nodeIps, isIpv6(nodeIps[0]))
  const [first] = ips
  return first === undefined ? {} : { hostIP: first, hostIPs: ips.map((ip) => ({ ip })) }
}

/**
 * A pod's addresses: one per family, the node's own family first. After the sandbox died the last known ones stay. In the node's
 * network they are the node's, and once said they only grow.
 */
export function computePodIps({ hostNetwork, sandboxIps, nodeIps, known }: PodIpsInput): PodIps {
  const knownIps = known?.podIPs?.map(({ ip }) => ip) ?? (known?.podIP === undefined ? [] : [known.podIP])
  const now = hostNetwork ? [...knownIps, ...nodeIps] : sandboxIps
  const ips = onePerFamily(now, isIpv6(hostNetwork ? now[0] : nodeIps[0]))
  const [first] = ips.length === 0 ? knownIps : ips
  return first === undefined ? {} : { podIP: first, podIPs: (ips.length === 0 ? knownIps : ips).map((ip) => ({ ip })) }
}

/** The addresses in their one way of writing; none at all when one of them cannot be read. */
function onePerFamily(texts: readonly string[], ipv6First: boolean): readonly string[] {
  const ips = texts.map(formatIp)
  if (ips.some((ip) => ip === undefined)) return []
  const ipv4 = ips.find((ip) => !isIpv6(ip))
  const ipv6 = ips.find(isIpv6)
  return (ipv6First ? [ipv6, ipv4] : [ipv4, ipv6]).filter((ip) => ip !== undefined)
}

function isIpv6(ip: string | undefined): boolean {
  return ip?.includes(':') === true
}

function formatIp(text: string): string | undefined {
  if (!isIpv6(text)) return readIpv4(text)?.join('.')
  const groups = readIpv6(text)
  if (groups === undefined) return undefined
  // The longest run of two or more zero groups is written as "::"; the first of equals.
  const words = groups.map((group) => group.toString(16))
  const runs = words.map((_, start) => {
    const end = words.findIndex((word, index) => index >= start && word !== '0')
    return (end === -1 ? words.length : end) - start
  })
  const longest = Math.max(...runs)
  if (longest < 2) return words.join(':')
  const start = runs.indexOf(longest)
  return `${words.slice(0, start).join(':')}::${words.slice(start + longest).join(':')}`
}

function readIpv4(text: string): readonly number[] | undefined {
  const parts = text.split('.')
  const fine = parts.length === 4 && parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255)
  return fine ? parts.map(Number) : undefined
}

function readIpv6(text: string): readonly number[] | undefined {
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const [head, tail] = halves.map((half) => (half === '' ? [] : half.split(':').flatMap(readGroup)))
  const missing = 8 - (head?.length ?? 0) - (tail?.length ?? 0)
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined
  const groups = [
    ...(head ?? []),
    ...Array.from({ length: tail === undefined ? 0 : missing }, () => 0),
    ...(tail ?? []),
  ]
  return groups.some(Number.isNaN) ? undefined : groups
}

/** One group, or the two that an IPv4 address at the end stands for. */
function readGroup(text: string): readonly number[] {
  const bytes = readIpv4(text)
  if (bytes !== undefined) {
    const [a = 0, b = 0, c = 0, d = 0] = bytes
    return [a * 256 + b, c * 256 + d]
  }
  return [/^[0-9a-f]{1,4}$/i.test(text) ? Number.parseInt(text, 16) : Number.NaN]
}
