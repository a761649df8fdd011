/** A directory name cannot hold the / of a plugin's name, or of an address that names a disk. */
export function escapeName(name: string): string {
  return name.replaceAll('/', '~')
}

export function unescapeName(directory: string): string {
  return directory.replaceAll('~', '/')
}

/** Where a volume of a pod is, as files or as a block device: the Go kubelet's own places. */
export function volumePath(
  podDirectory: string,
  volume: { readonly use: 'files' | 'device'; readonly plugin: string; readonly specName: string },
): string {
  const folder = volume.use === 'files' ? 'volumes' : 'volumeDevices'
  return `${podDirectory}/${folder}/${escapeName(volume.plugin)}/${volume.specName}`
}

/** Has what was bound of this volume for containers that use only a part of it. */
export function subPathsDirectory(podDirectory: string, specName: string): string {
  return `${podDirectory}/volume-subpaths/${specName}`
}
