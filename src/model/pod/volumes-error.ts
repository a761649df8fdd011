/** Volumes of a pod that could not be brought, or not be taken away, for now; the message is what its users read. */
export class VolumesError extends Error {
  override readonly name = 'VolumesError'
}
