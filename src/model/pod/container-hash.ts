import { fnv1a32 } from '../text/fnv1a32.ts'
import type { Container } from '../generated/core-v1.ts'
import { goJson } from '../text/go-json.ts'
import { utf8Bytes } from '../text/utf8-bytes.ts'

/**
 * Shows whether a running container was made from this name and image; nothing else of a container counts.
 * The value is the Go kubelet's own, so that either agent takes over the other's containers without a restart:
 * FNV-1a, 32 bit, over the way Go prints the bytes of the JSON text.
 */
export function containerHash(container: Pick<Container, 'name' | 'image'>): string {
  const json = goJson({ image: container.image ?? '', name: container.name })
  return fnv1a32(`([]uint8)[${utf8Bytes(json).join(' ')}]`).toString(16)
}
