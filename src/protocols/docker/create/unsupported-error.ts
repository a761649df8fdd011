/** Something was asked for that Docker cannot do. */
export class UnsupportedError extends Error {
  override readonly name = 'UnsupportedError'
}
