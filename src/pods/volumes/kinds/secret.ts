import { createContentKind } from '../payload/content-volume.ts'
import type { ContentVolumeDeps } from '../payload/content-volume.ts'
import { inlineSource } from '../inline-source.ts'
import { gatherSecret } from '../payload/gather-objects.ts'
import { requireDefaultMode } from '../payload/require-default-mode.ts'
import type { VolumeContent } from '../payload/volume-content.ts'
import type { VolumeKind } from '../volume-kind.ts'

/** The keys of a Secret as files, in memory only. */
export function createSecretKind(deps: ContentVolumeDeps & { readonly content: VolumeContent }): VolumeKind {
  return createContentKind(deps, {
    plugin: 'kubernetes.io/secret',
    medium: 'Memory',
    async gather(desired, signal) {
      const source = inlineSource(desired, 'secret')
      const { namespace } = desired.pod.metadata
      const { secretName: name, items, optional } = source
      const defaultMode = requireDefaultMode(source)
      return await gatherSecret(deps.content, { namespace, name, items, optional, defaultMode }, signal)
    },
  })
}
