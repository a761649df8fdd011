/** Where a runtime listens. */
export interface RuntimeEndpoint {
  readonly socketPath: string
  /** The endpoint was a bare path: accepted for old configurations, and worth a warning. */
  readonly bare: boolean
}

/** The endpoint of a runtime is not one that can be used. */
export class EndpointError extends Error {
  override readonly name = 'EndpointError'
}

// sun_path of the kernel holds 108 bytes with the final zero.
const LONGEST_SOCKET_PATH = 107

/** Reads `unix:///path` or a bare absolute path. Only unix sockets carry no credentials of their own, so nothing else is taken. */
export function parseEndpoint(text: string): RuntimeEndpoint {
  const bare = text.startsWith('/')
  const socketPath = bare ? text : text.replace(/^unix:\/\//, '')
  if (!socketPath.startsWith('/') || socketPath === '/') {
    throw new EndpointError(`Cannot use runtime endpoint "${text}": expected unix:///path/to/socket`)
  }
  const bytes = Buffer.byteLength(socketPath)
  if (bytes > LONGEST_SOCKET_PATH) {
    throw new EndpointError(
      `Cannot use runtime endpoint "${text}": path has ${bytes} bytes, expected at most ${LONGEST_SOCKET_PATH}`,
    )
  }
  return { socketPath, bare }
}
