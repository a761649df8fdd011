/** The exit codes of the command; "deckhand help" lists them. */
export const exitCodes = {
  done: 0,
  failed: 1,
  wrongArguments: 2,
  /** For "up": another one runs already. For "status": nothing runs. */
  otherState: 3,
  /** Not root, a program that is not installed, a port that is taken, a folder that cannot be written. */
  unfitMachine: 4,
} as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** Shown to the user as it is, instead of a stack trace. */
export class NodeError extends Error {
  override readonly name = 'NodeError'
  readonly exitCode: ExitCode

  constructor(message: string, exitCode: ExitCode, options?: ErrorOptions) {
    super(message, options)
    this.exitCode = exitCode
  }
}
