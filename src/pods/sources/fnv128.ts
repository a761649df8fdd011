// The FNV prime of 128 bits is 2^88 + 0x13b; the state is kept in four words of 32 bits, lowest first.
const PRIME_LOW = 0x13b
const OFFSET_BASIS = [0x6295c58d, 0x62b82175, 0x07bb0142, 0x6c62272e] as const
const WORD = 2 ** 32

/** FNV-1a of 128 bits as 32 hex digits: stable, well spread, not for keeping secrets. */
export function fnv128(text: string): string {
  let [w0, w1, w2, w3]: [number, number, number, number] = [...OFFSET_BASIS]
  for (const byte of Buffer.from(text, 'utf8')) {
    w0 = (w0 ^ byte) >>> 0
    const r0 = w0 * PRIME_LOW
    const r1 = w1 * PRIME_LOW + Math.floor(r0 / WORD)
    const r2 = w2 * PRIME_LOW + Math.floor(r1 / WORD) + ((w0 << 24) >>> 0)
    const r3 = w3 * PRIME_LOW + Math.floor(r2 / WORD) + (w0 >>> 8) + ((w1 << 24) >>> 0)
    w0 = r0 % WORD
    w1 = r1 % WORD
    w2 = r2 % WORD
    w3 = r3 % WORD
  }
  return [w3, w2, w1, w0].map((word) => word.toString(16).padStart(8, '0')).join('')
}
