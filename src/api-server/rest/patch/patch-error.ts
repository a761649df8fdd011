/** A patch that cannot be applied to what is there. */
export class PatchError extends Error {
  override readonly name = 'PatchError'
  /** The patch itself is wrong, not only for this object. */
  readonly isMalformed: boolean

  constructor(message: string, isMalformed = false) {
    super(message)
    this.isMalformed = isMalformed
  }
}
