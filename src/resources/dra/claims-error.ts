/** Claims of a pod that could not be prepared, or not be given back, for now; the message is what its users read. */
export class ClaimsError extends Error {
  override readonly name = 'ClaimsError'
}
