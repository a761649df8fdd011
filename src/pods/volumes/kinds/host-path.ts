import type { GuardedFiles, HostPathType } from '../../../system/guarded/guarded-files.ts'
import type { HostPathVolumeSource } from '../../../model/generated/core-v1.ts'
import { volumeGroupsOf } from '../persistent-volumes/volume-groups.ts'
import type { VolumeKind } from '../volume-kind.ts'
import type { DesiredVolume } from '../desired-volume.ts'

/** A path of the node itself: checked, perhaps made, never mounted, changed or removed. */
export function createHostPathKind(deps: { readonly guarded: Pick<GuardedFiles, 'checkHostPath'> }): VolumeKind {
  return {
    plugin: 'kubernetes.io/host-path',
    refreshed: false,
    measure: undefined,

    async setUp(desired, signal) {
      const { path, type = '' } = findSource(desired)
      if (!path.startsWith('/')) throw new Error(`Cannot use host path "${path}": expected an absolute path`)
      if (path.split('/').includes('..')) throw new Error(`Cannot use host path "${path}": it has ".." in it`)
      await deps.guarded.checkHostPath({ path, type: parseType(type) }, signal)
      const groups = volumeGroupsOf(desired.source)
      return { kind: 'files', hostPath: path, readOnly: desired.readOnly, selinuxRelabel: false, groups }
    },

    async tearDown() {},
  }
}

function findSource({ name, source }: DesiredVolume): HostPathVolumeSource {
  const found = source.kind === 'inline' ? source.volume.hostPath : source.volume.spec?.hostPath
  if (found === undefined) throw new Error(`Cannot mount volume "${name}": expected hostPath in its spec`)
  return found
}

const TYPES: readonly HostPathType[] = [
  '',
  'DirectoryOrCreate',
  'Directory',
  'FileOrCreate',
  'File',
  'Socket',
  'CharDevice',
  'BlockDevice',
]

function parseType(text: string): HostPathType {
  const type = TYPES.find((known) => known === text)
  if (type === undefined)
    throw new Error(`Cannot use host path type "${text}": expected one of ${TYPES.filter(Boolean).join(', ')}`)
  return type
}
