import { errorMessage } from '../../../base/telemetry/error-text.ts'

/** Several failures as one that says all of them, each once: a user fixes them in one go. */
export function joinErrors(errors: readonly unknown[]): unknown {
  if (errors.length === 1) return errors[0]
  const messages = new Set(errors.map((error) => errorMessage(error)))
  const [only] = messages
  return new AggregateError(errors, messages.size === 1 ? only : `[${[...messages].join(', ')}]`)
}
