import { EMPTY_DIR_PLUGIN } from '../empty-directories.ts'
import type { EmptyDirectories } from '../empty-directories.ts'
import { inlineSource } from '../inline-source.ts'
import type { VolumeKind } from '../volume-kind.ts'

/** A directory that lives as long as its pod, on the disk or in memory. */
export function createEmptyDirKind(deps: { readonly directories: EmptyDirectories }): VolumeKind {
  return {
    plugin: EMPTY_DIR_PLUGIN,
    refreshed: false,
    measure: 'walk',

    async setUp(wish, signal) {
      const { medium = '', sizeLimit } = inlineSource(wish, 'emptyDir')
      const { uid, specName: name, path, pod, fsGroup } = wish
      await deps.directories.setUp({ uid, name, path, pod, medium, sizeLimit, fsGroup }, signal)
      return { kind: 'files', hostPath: path, readOnly: false, selinuxRelabel: true, groups: [] }
    },

    async tearDown({ uid, specName: name, path }, signal) {
      await deps.directories.tearDown({ uid, name, path }, signal)
    },
  }
}
