import type { ResourceAmounts } from '../../../model/resources/compute-pod-requests.ts'
import { createContentKind } from '../payload/content-volume.ts'
import type { ContentVolumeDeps } from '../payload/content-volume.ts'
import { inlineSource } from '../inline-source.ts'
import { computeDownwardPayload } from '../payload/compute-downward-payload.ts'
import { requireDefaultMode } from '../payload/require-default-mode.ts'
import type { VolumeKind } from '../volume-kind.ts'

/** What the pod's own spec says, as files: labels and annotations may change while it runs. */
export function createDownwardApiKind(
  deps: ContentVolumeDeps & { readonly nodeAllocatable: () => ResourceAmounts },
): VolumeKind {
  return createContentKind(deps, {
    plugin: 'kubernetes.io/downward-api',
    medium: 'Memory',
    async gather(desired) {
      const source = inlineSource(desired, 'downwardAPI')
      const info = {
        pod: desired.pod,
        nodeAllocatable: deps.nodeAllocatable(),
        defaultMode: requireDefaultMode(source),
      }
      return computeDownwardPayload(source.items, info)
    },
  })
}
