import { formatIp, parseCidr, parseIp } from '../../../../model/text/ip-number.ts'
import type { IpFamily } from '../../../../model/text/ip-number.ts'

/** The addresses of services of one family, as in "10.96.0.0/12". */
export interface ServiceRange {
  readonly text: string
  readonly family: IpFamily
  /** The first address that can be given. */
  readonly first: bigint
  /** How many there are. */
  readonly size: bigint
}

export const DEFAULT_SERVICE_RANGE = '10.96.0.0/12'

// The addresses before it are left to services that choose one, such as the API and DNS.
const LARGEST_BAND = 256n
const SMALLEST_BAND = 16n
const NARROWEST_BITS = 4
const WIDEST_BITS = { IPv4: 24, IPv6: 64 }

/** Reads one range, or one of each family: services get their addresses from the first unless they ask for the other. */
export function parseServiceRanges(text: string): readonly ServiceRange[] {
  const ranges = text.split(',').map(parseServiceRange)
  if (ranges.length > 2 || (ranges.length === 2 && ranges[0]?.family === ranges[1]?.family))
    throw new Error(`Cannot use the ranges of services "${text}": expected one of each family at most`)
  return ranges
}

/** Reads a range; throws when it is none, or so small that it makes no sense. */
export function parseServiceRange(text: string): ServiceRange {
  const range = parseCidr(text)
  if (range === undefined || range.bits < NARROWEST_BITS || range.bits > WIDEST_BITS[range.base.family]) {
    throw new Error(`Cannot use the range of services "${text}": expected one such as "${DEFAULT_SERVICE_RANGE}"`)
  }
  const { family, value } = range.base
  // Neither the address of the network nor, in IPv4, that of all in it.
  const size = (1n << BigInt(range.bits)) - (family === 'IPv4' ? 2n : 1n)
  return { text, family, first: value + 1n, size }
}

/** The address of the API itself: the first. */
export function firstAddress(range: ServiceRange): string {
  return nthAddress(range, 1)
}

/** Counted from 1. */
export function nthAddress({ family, first }: ServiceRange, n: number): string {
  return formatIp({ family, value: first + BigInt(n - 1) })
}

export function isInRange({ family, first, size }: ServiceRange, address: string): boolean {
  const ip = parseIp(address)
  return ip !== undefined && ip.family === family && ip.value >= first && ip.value < first + size
}

/** A free address; undefined when there is none left. */
export function findFreeAddress({ family, first, size }: ServiceRange, taken: ReadonlySet<string>): string | undefined {
  const share = size / 16n
  const band = share < SMALLEST_BAND ? SMALLEST_BAND : share > LARGEST_BAND ? LARGEST_BAND : share
  for (let step = 0n; step < size; step++) {
    // Once around: the reserved ones are taken last.
    const address = formatIp({ family, value: first + ((band + step) % size) })
    if (!taken.has(address)) return address
  }
  return undefined
}
