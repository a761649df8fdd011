import { findVolumeSource } from '../../pods/volumes/persistent-volumes/find-volume-source.ts'
import type { VolumeHost, VolumeHostDeps } from '../../pods/volumes/create-volume-host.ts'
import { createConfigMapKind } from '../../pods/volumes/kinds/config-map.ts'
import { createDownwardApiKind } from '../../pods/volumes/kinds/downward-api.ts'
import { createProjectedKind } from '../../pods/volumes/kinds/projected.ts'
import { createSecretKind } from '../../pods/volumes/kinds/secret.ts'
import { rejectVolume } from '../../pods/volumes/reject-volume.ts'
import type { VolumeKind } from '../../pods/volumes/volume-kind.ts'
import { VOLUME_PLUGINS } from '../../pods/volumes/compute-volume-plugin.ts'

/**
 * Volumes without a disk. What shows objects of the API is the real kind, so that a missing ConfigMap keeps a pod waiting and a token is
 * asked for; only its files are written nowhere. All others are there at once.
 */
export function createSimulatedVolumes(deps: VolumeHostDeps): VolumeHost {
  const { objects } = deps
  const content = {
    ...deps,
    directories: { setUp: async () => true, tearDown: async () => {} },
    writer: { write: async () => true },
    makeMountPoints: async () => {},
    content: { ...deps.objects, ...deps.projections },
  }
  const real = [
    createConfigMapKind(content),
    createSecretKind(content),
    createDownwardApiKind(content),
    createProjectedKind(content),
  ]
  const others = VOLUME_PLUGINS.difference(new Set(real.map(({ plugin }) => plugin)))
  return {
    kinds: [...real, ...[...others].map(createKind)],
    findSource: (pod, used, signal) => findVolumeSource({ objects, node: deps.node }, { pod, used }, signal),
    refusal: rejectVolume,
    mounter: { table: async () => [], unmount: async () => {} },
    guarded: { makeSubPath: async () => {}, bindSubPath: async () => {}, releaseSubPaths: async () => {} },
    folders: {
      listVolumes: async () => [],
      listPods: async () => [],
      makeFolder: async () => {},
      holdsAnything: async () => false,
      removeEmptyFolders: async () => [],
    },
  }
}

function createKind(plugin: string): VolumeKind {
  return {
    plugin,
    refreshed: false,
    measure: 'once',
    setUp: async ({ path }) => ({ kind: 'files', hostPath: path, readOnly: false, selinuxRelabel: false, groups: [] }),
    tearDown: async () => {},
  }
}
