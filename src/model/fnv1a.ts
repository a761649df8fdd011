/** FNV-1a, 32 bit, over the characters of a text that are all below 256: what the Go kubelet makes its checksums with. */
export function fnv1a32(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  }
  return hash >>> 0
}
