/** Docker answered a request with an error: its status and its own words. */
export class DockerError extends Error {
  override readonly name = 'DockerError'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Docker cannot be asked: nothing listens on its socket, or the connection broke. */
export class DockerAwayError extends Error {
  override readonly name = 'DockerAwayError'
}

/** True for the answer that there is no such thing. */
export function isMissing(error: unknown): boolean {
  return error instanceof DockerError && error.status === 404
}

/** The answer of a request, or undefined when there is no such thing. */
export async function unlessMissing<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}
