/** True for what is written as an IPv6 address. */
export function isIpv6(ip: string | undefined): boolean {
  return ip?.includes(':') === true
}

/** An IP address in its one way of writing; undefined for what is none. */
export function formatIp(text: string): string | undefined {
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
