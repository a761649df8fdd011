import type { CsiDriverObjects } from './csi-driver-objects.ts'
import { toDriverTraits } from './to-driver-traits.ts'

/** Of a node without an API: every driver is as one that has no object. */
export const noCsiDriverObjects: CsiDriverObjects = {
  find: async () => toDriverTraits(undefined),
  findAttachment: async () => undefined,
}
