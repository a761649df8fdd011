/** True for an error with one of the codes of the system, such as ENOENT. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return Error.isError(error) && 'code' in error && codes.some((code) => code === error.code)
}

/** The result, or something else when the path that it is about is not there. */
export async function unlessAbsent<T, U>(result: Promise<T>, otherwise: U): Promise<T | U> {
  try {
    return await result
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return otherwise
    throw error
  }
}
