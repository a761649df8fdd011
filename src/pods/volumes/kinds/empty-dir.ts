import { EMPTY_DIR_PLUGIN } from '../usage/empty-directories.ts'
import type { EmptyDirectories } from '../usage/empty-directories.ts'
import { inlineSource } from '../inline-source.ts'
import type { VolumeKind } from '../volume-kind.ts'
import type { VolumeProjects } from '../usage/volume-projects.ts'

export interface EmptyDirKindDeps {
  readonly directories: EmptyDirectories
  /** Counts what those on the disk take; undefined when they are to be walked through. */
  readonly projects?: Pick<VolumeProjects, 'assign' | 'release'> | undefined
}

/** A directory that lives as long as its pod, on the disk or in memory. */
export function createEmptyDirKind(deps: EmptyDirKindDeps): VolumeKind {
  return {
    plugin: EMPTY_DIR_PLUGIN,
    refreshed: false,
    measure: 'walk',

    async setUp(desired, signal) {
      const { medium = '', sizeLimit } = inlineSource(desired, 'emptyDir')
      const { uid, specName: name, path, pod, fsGroup } = desired
      const isNew = await deps.directories.setUp({ uid, name, path, pod, medium, sizeLimit, fsGroup }, signal)
      // Who is root of the node could move files to another project, and none of it would be counted here.
      if (isNew && medium === '' && pod.spec.hostUsers === false) await deps.projects?.assign(path, signal)
      return { kind: 'files', hostPath: path, readOnly: false, selinuxRelabel: true, groups: [] }
    },

    async tearDown({ uid, specName: name, path }, signal) {
      await deps.directories.tearDown({ uid, name, path }, signal)
      await deps.projects?.release(path)
    },
  }
}
