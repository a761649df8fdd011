/** The bytes of a text, without Buffer or TextEncoder, which pure files do not have. A lone surrogate becomes U+FFFD. */
export function utf8Bytes(text: string): Uint8Array {
  const wellFormed = text.toWellFormed()
  const bytes = new Uint8Array(countUtf8(wellFormed))
  let at = 0
  for (let index = 0; index < wellFormed.length; index += 1) {
    const code = wellFormed.codePointAt(index) ?? 0
    const more = widthOf(code) - 1
    // The first byte says how many follow, with six bits each.
    bytes[at] = more === 0 ? code : (LEADS[more] ?? 0) | (code >> (SIX_BITS * more))
    for (let left = more - 1; left >= 0; left -= 1)
      bytes[at + more - left] = 0x80 | ((code >> (SIX_BITS * left)) & 0x3f)
    at += more + 1
    // Two units make one of the characters with four bytes.
    if (more === 3) index += 1
  }
  return bytes
}

const SIX_BITS = 6
const LEADS = [0, 0xc0, 0xe0, 0xf0]

function countUtf8(text: string): number {
  let bytes = 0
  for (let index = 0; index < text.length; index += 1) {
    const width = widthOf(text.codePointAt(index) ?? 0)
    bytes += width
    if (width === 4) index += 1
  }
  return bytes
}

function widthOf(code: number): number {
  return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
}

/** The beginning of a text in at most so many bytes of UTF-8, cut between characters. */
export function cutUtf8(text: string, maxBytes: number): string {
  let bytes = 0
  let length = 0
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0
    bytes += widthOf(code)
    if (bytes > maxBytes) return text.slice(0, length)
    length += character.length
  }
  return text
}
