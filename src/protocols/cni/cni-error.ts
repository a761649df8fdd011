/** A CNI network could not be configured, set up or taken down. */
export class CniError extends Error {
  override readonly name = 'CniError'
}
