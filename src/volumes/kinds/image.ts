import { inlineSource } from '../inline-source.ts'
import type { VolumeKind } from '../volume-kind.ts'

/** The content of an image. The runtime brings it when it makes a container; here is nothing to do or to take away. */
export function createImageKind(): VolumeKind {
  return {
    plugin: 'kubernetes.io/image',
    refreshed: false,
    measure: undefined,

    async setUp(wish) {
      inlineSource(wish, 'image')
      return { kind: 'image' }
    },

    async tearDown() {},
  }
}
