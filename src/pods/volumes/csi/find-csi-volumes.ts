import type { PodUid } from '../../../model/pod/pod.ts'
import type { VolumePlace } from '../desired-volume.ts'
import type { CsiVolumeDeps } from './csi-volume-deps.ts'
import { csiVolumeName } from './csi-names.ts'
import { deviceStaging, filesStaging } from './csi-paths.ts'
import type { NodeVolume } from './stage/node-volume.ts'
import { readVolumeData, takeVolumeData } from './read-volume-data.ts'
import type { VolumeData } from './volume-data.ts'

export interface FoundCsiVolumes {
  /** Those that may be staged. */
  readonly staged: readonly NodeVolume[]
  readonly users: readonly { readonly uid: PodUid; readonly volume: NodeVolume }[]
}

type NotedVolume = Pick<VolumeData, 'driverName' | 'volumeHandle' | 'seLinuxMountContext'>
type FindDeps = Pick<CsiVolumeDeps, 'csiFiles' | 'rootDirectory' | 'log'>

/** What earlier agents left of CSI volumes, by the notes that lie beside them. */
export async function findCsiVolumes(deps: FindDeps, places: readonly VolumePlace[]): Promise<FoundCsiVolumes> {
  const { csiFiles } = deps
  const users: { uid: PodUid; volume: NodeVolume }[] = []
  for (const place of places) {
    const directory = isDevice(place) ? deviceStaging(deps.rootDirectory, place.specName).data : place.path
    const data = await readVolumeData(deps, directory)
    if (data !== undefined && data.volumeLifecycleMode !== 'Ephemeral')
      users.push({
        uid: place.uid,
        volume: toNodeVolume(deps, data, { use: isDevice(place) ? 'device' : 'files', specName: place.specName }),
      })
  }
  const staged: NodeVolume[] = []
  for (const found of await csiFiles.listStagedFiles()) {
    const data = await takeVolumeData(deps, found)
    const specName = users.find(({ volume }) => volume.handle === data?.volumeHandle)?.volume.specName ?? ''
    if (data !== undefined) staged.push(toNodeVolume(deps, data, { use: 'files', specName }))
  }
  for (const found of await csiFiles.listStagedDevices()) {
    const data = await takeVolumeData(deps, found)
    if (data?.specVolID !== undefined)
      staged.push(toNodeVolume(deps, data, { use: 'device', specName: data.specVolID }))
  }
  return { staged, users }
}

/** The volume of a note, as the node has it. */
export function toNodeVolume(
  { rootDirectory }: Pick<CsiVolumeDeps, 'rootDirectory'>,
  { driverName: driver, volumeHandle: handle, seLinuxMountContext }: NotedVolume,
  { use, specName }: Pick<NodeVolume, 'use' | 'specName'>,
): NodeVolume {
  const { staging, data } =
    use === 'device' ? deviceStaging(rootDirectory, specName) : filesStaging(rootDirectory, driver, handle)
  const name = csiVolumeName(driver, handle)
  return { name, driver, handle, specName, use, staging, data, selinuxLabel: seLinuxMountContext ?? '' }
}

export function isDevice({ uid, path }: VolumePlace): boolean {
  return path.includes(`/pods/${uid}/volumeDevices/`)
}
