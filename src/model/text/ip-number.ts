export type IpFamily = 'IPv4' | 'IPv6'

/** An IP address as a number, with its family. */
export interface IpNumber {
  readonly family: IpFamily
  readonly value: bigint
}

const V4_PART = String.raw`(?:0|[1-9]\d?|1\d\d|2[0-4]\d|25[0-5])`
const V4 = new RegExp(String.raw`^(?:${V4_PART}\.){3}${V4_PART}$`, 'v')
const V4_BITS = 32
const V6_BITS = 128

/** Undefined for what is no address; a zone ("%eth0") makes it none. */
export function parseIp(text: string): IpNumber | undefined {
  if (V4.test(text)) return { family: 'IPv4', value: BigInt(toNumber(text)) }
  const value = fromGroups(text)
  return value === undefined ? undefined : { family: 'IPv6', value }
}

/** An address in the one form that everyone writes. */
export function formatIp({ family, value }: IpNumber): string {
  if (family === 'IPv4') return [24n, 16n, 8n, 0n].map((shift) => String((value >> shift) & 0xffn)).join('.')
  const groups = Array.from({ length: 8 }, (_, index) => ((value >> BigInt(112 - 16 * index)) & 0xffffn).toString(16))
  const runs = [...groups.join(':').matchAll(/(?<=^|:)0(?::0)+(?=$|:)/g)].map(([run]) => run)
  const longest = runs.reduce((most, run) => (run.length > most.length ? run : most), '')
  if (longest === '') return groups.join(':')
  const text = groups.join(':')
  const at = text.search(new RegExp(`(?<=^|:)${longest}(?=$|:)`, 'v'))
  return `${text.slice(0, at).replace(/:$/, '')}::${text.slice(at + longest.length).replace(/^:/, '')}`
}

/** An address as text in that form; undefined for what is none. */
export function normalizeIp(text: string): string | undefined {
  const ip = parseIp(text)
  return ip && formatIp(ip)
}

/** True for what is written as an IPv6 address. */
export function isIpv6(ip: string | undefined): boolean {
  return ip?.includes(':') === true
}

/** A range as in "10.96.0.0/12"; undefined for what is none. */
export function parseCidr(text: string): { readonly base: IpNumber; readonly bits: number } | undefined {
  const [address = '', prefix = '', ...rest] = text.split('/')
  const ip = parseIp(address)
  if (ip === undefined || rest.length > 0 || !/^\d{1,3}$/.test(prefix)) return undefined
  const width = ip.family === 'IPv4' ? V4_BITS : V6_BITS
  const bits = width - Number(prefix)
  if (bits < 0) return undefined
  const size = 1n << BigInt(bits)
  return { base: { ...ip, value: ip.value - (ip.value % size) }, bits }
}

function toNumber(address: string): number {
  return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
}

function fromGroups(text: string): bigint | undefined {
  // The last four bytes may be written as those of an IPv4 address.
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text)
  if (dotted && !V4.test(dotted[2] ?? '')) return undefined
  const last = toNumber(dotted?.[2] ?? '0.0.0.0')
  const plain = dotted ? `${dotted[1]}${Math.floor(last / 65_536).toString(16)}:${(last % 65_536).toString(16)}` : text
  const [head = '', tail, ...more] = plain.split('::')
  const front = head === '' ? [] : head.split(':')
  const back = tail === undefined || tail === '' ? [] : tail.split(':')
  const missing = tail === undefined ? 0 : 8 - front.length - back.length
  // "::" stands for one group at least.
  if (more.length > 0 || missing < (tail === undefined ? 0 : 1)) return undefined
  const groups = [...front, ...Array.from({ length: missing }, () => '0'), ...back]
  if (groups.length !== 8 || !groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return undefined
  return groups.reduce((sum, group) => (sum << 16n) + BigInt(Number.parseInt(group, 16)), 0n)
}
