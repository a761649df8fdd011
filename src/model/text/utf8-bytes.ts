/** The bytes of a text, without Buffer or TextEncoder, which pure files do not have. A lone surrogate becomes U+FFFD. */
export function utf8Bytes(text: string): Uint8Array {
  const escaped = encodeURIComponent(text.toWellFormed())
  return Uint8Array.from(escaped.matchAll(/%([0-9A-F]{2})|[^%]/g), ([character, hex]) =>
    hex === undefined ? character.charCodeAt(0) : Number.parseInt(hex, 16),
  )
}

/** The beginning of a text in at most so many bytes of UTF-8, cut between characters. */
export function cutUtf8(text: string, maxBytes: number): string {
  let bytes = 0
  let length = 0
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
    if (bytes > maxBytes) return text.slice(0, length)
    length += character.length
  }
  return text
}
