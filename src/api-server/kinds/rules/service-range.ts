import { isIPv4 } from 'node:net'

/** The addresses of services: IPv4, as in "10.96.0.0/12". */
export interface ServiceRange {
  readonly text: string
  readonly base: number
  readonly size: number
}

export const DEFAULT_SERVICE_RANGE = '10.96.0.0/12'

// The addresses before it are left to services that choose one, such as the API and DNS.
const LARGEST_BAND = 256
const SMALLEST_BAND = 16
const NARROWEST_PREFIX = 28

/** Reads a range; throws when it is none, or so small that it makes no sense. */
export function parseServiceRange(text: string): ServiceRange {
  const [address = '', prefix = ''] = text.split('/')
  const bits = /^\d{1,2}$/.test(prefix) ? Number(prefix) : Number.NaN
  if (!isIPv4(address) || !(bits >= 8 && bits <= NARROWEST_PREFIX)) {
    throw new Error(`Cannot use the range of services "${text}": expected IPv4 such as "${DEFAULT_SERVICE_RANGE}"`)
  }
  const size = 2 ** (32 - bits)
  const base = toNumber(address)
  return { text, base: base - (base % size), size }
}

/** The address of the API itself: the first. */
export function firstAddress({ base }: ServiceRange): string {
  return toText(base + 1)
}

export function isInRange({ base, size }: ServiceRange, address: string): boolean {
  if (!isIPv4(address)) return false
  const number = toNumber(address)
  // Neither the address of the network nor that of all in it.
  return number > base && number < base + size - 1
}

/** A free address; undefined when there is none left. */
export function findFreeAddress(range: ServiceRange, taken: ReadonlySet<string>): string | undefined {
  const { base, size } = range
  const band = Math.min(Math.max(SMALLEST_BAND, size / 16), LARGEST_BAND)
  for (let step = 0; step < size - 2; step++) {
    // Once around: the reserved ones are taken last.
    const address = toText(base + 1 + ((band - 1 + step) % (size - 2)))
    if (!taken.has(address)) return address
  }
  return undefined
}

function toNumber(address: string): number {
  return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
}

function toText(number: number): string {
  return [24, 16, 8, 0].map((shift) => (number >>> shift) & 0xff).join('.')
}
