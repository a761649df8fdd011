/** What went wrong, for people. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message || error.constructor.name : String(error)
}
