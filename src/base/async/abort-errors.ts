/** The agent leaves; pods stay. */
export class ShutdownError extends Error {
  override readonly name = 'ShutdownError'
}

/** Something took longer than it may. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError'
}
