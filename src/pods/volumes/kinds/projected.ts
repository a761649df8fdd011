import type { ResourceAmounts } from '../../../model/resources/compute-pod-requests.ts'
import { createContentKind } from '../payload/content-volume.ts'
import type { ContentVolumeDeps } from '../payload/content-volume.ts'
import { inlineSource } from '../inline-source.ts'
import { gatherProjection } from '../payload/gather-projection.ts'
import { requireDefaultMode } from '../payload/require-default-mode.ts'
import type { VolumeContent } from '../payload/volume-content.ts'
import type { VolumeKind } from '../volume-kind.ts'

/** Several sources in one directory; above all the token of the pod's service account. */
export function createProjectedKind(
  deps: ContentVolumeDeps & { readonly content: VolumeContent; readonly nodeAllocatable: () => ResourceAmounts },
): VolumeKind {
  return createContentKind(deps, {
    plugin: 'kubernetes.io/projected',
    medium: 'Memory',
    async gather(desired, signal) {
      const source = inlineSource(desired, 'projected')
      const { pod, specName, fsUser, fsGroup } = desired
      const info = {
        pod,
        volume: specName,
        fsUser,
        fsGroup,
        defaultMode: requireDefaultMode(source),
        content: deps.content,
        // Computed only for pods that ask for it.
        get nodeAllocatable() {
          return deps.nodeAllocatable()
        },
      }
      return await gatherProjection(source.sources, info, signal)
    },
  })
}
