import { createContentKind } from '../payload/content-volume.ts'
import type { ContentVolumeDeps } from '../payload/content-volume.ts'
import { inlineSource } from '../inline-source.ts'
import { gatherConfigMap } from '../payload/gather-objects.ts'
import { requireDefaultMode } from '../payload/require-default-mode.ts'
import type { VolumeContent } from '../payload/volume-content.ts'
import type { VolumeKind } from '../volume-kind.ts'

/** The keys of a ConfigMap as files. */
export function createConfigMapKind(deps: ContentVolumeDeps & { readonly content: VolumeContent }): VolumeKind {
  return createContentKind(deps, {
    plugin: 'kubernetes.io/configmap',
    medium: '',
    async gather(desired, signal) {
      const source = inlineSource(desired, 'configMap')
      const { namespace } = desired.pod.metadata
      const { name, items, optional } = source
      const defaultMode = requireDefaultMode(source)
      return await gatherConfigMap(deps.content, { namespace, name, items, optional, defaultMode }, signal)
    },
  })
}
