/** The bytes of a text, without Buffer or TextEncoder, which pure files do not have. A lone surrogate becomes U+FFFD. */
export function utf8Bytes(text: string): Uint8Array {
  const escaped = encodeURIComponent(text.toWellFormed())
  return Uint8Array.from(escaped.matchAll(/%([0-9A-F]{2})|[^%]/g), ([character, hex]) =>
    hex === undefined ? character.charCodeAt(0) : Number.parseInt(hex, 16),
  )
}
