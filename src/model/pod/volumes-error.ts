/** Volumes of a pod that could not be mounted, or not be unmounted, for now; the message is what its users read. */
export class VolumesError extends Error {
  override readonly name = 'VolumesError'
}
