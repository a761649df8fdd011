import type { Container } from './generated/core-v1.ts'

/**
 * Tells whether a running container was made from this name and image; nothing else of a container counts.
 * The value is the Go kubelet's own, so that either agent takes over the other's containers without a restart:
 * FNV-1a, 32 bit, over the way Go prints the bytes of the JSON text.
 */
export function containerHash(container: Pick<Container, 'name' | 'image'>): string {
  const json = `{"image":${goJsonString(container.image ?? '')},"name":${goJsonString(container.name)}}`
  return fnv1a32(`([]uint8)[${utf8Bytes(json).join(' ')}]`).toString(16)
}

/** Go escapes the three characters that HTML would trip over, and the two line separators of JavaScript. */
function goJsonString(text: string): string {
  return JSON.stringify(text).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Without Buffer or TextEncoder, which pure files do not have. */
function utf8Bytes(text: string): number[] {
  return Array.from(encodeURIComponent(text).matchAll(/%([0-9A-F]{2})|[^%]/g), ([character, hex]) =>
    hex === undefined ? character.charCodeAt(0) : Number.parseInt(hex, 16),
  )
}

function fnv1a32(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  }
  return hash >>> 0
}
