// Whatever stands under such a name never reaches a log, at any level.
const SECRET_NAMES = /token|password|passwd|authorization|credential|secret(?!Name)|privateKey/i
const REPORTED_END = 30

/** What an error says itself. For texts that go to users, or into an error that keeps this one as its cause. */
export function errorMessage(error: unknown): string {
  return Error.isError(error) ? error.message : String(error)
}

/** What was thrown, as an Error: it should be one, but need not. */
export function toError(thrown: unknown): Error {
  return Error.isError(thrown) ? thrown : new Error(String(thrown))
}

/** An error with all that caused it, as one sentence. */
export function errorText(error: unknown): string {
  const texts: string[] = []
  let next = error
  while (next !== undefined && texts.length < 8) {
    // What failed first is what matters; what failed while leaving its block is mostly the same.
    if (next instanceof SuppressedError) {
      next = next.suppressed
      continue
    }
    const text = Error.isError(next) ? next.message : describe(next)
    // Each layer repeats the words of the one below behind its own: the end is compared.
    if (!texts.some((said) => said.includes(text) || said.endsWith(text.slice(-REPORTED_END)))) texts.push(text)
    next = Error.isError(next) ? next.cause : undefined
  }
  return texts.join(': ')
}

/** What is thrown should be an Error; what is not is shown as well as can be. */
function describe(thrown: unknown): string {
  return typeof thrown === 'string' ? thrown : toText(thrown)
}

/** A field of a log line, as text. */
export function toText(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : (JSON.stringify(value, replaceValue) ?? 'null')
}

/** The value of a field as it may be logged: no secrets, errors as text. */
export function toLoggable(name: string, value: unknown): unknown {
  if (SECRET_NAMES.test(name)) return '[redacted]'
  return Error.isError(value) ? errorText(value) : value
}

/** The same for values within values, for JSON.stringify(). */
export function replaceValue(name: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  return name === '' ? value : toLoggable(name, value)
}
