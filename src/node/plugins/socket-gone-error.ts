/** The socket of a plugin went away, and the plugin with it. */
export class SocketGoneError extends Error {
  override readonly name = 'SocketGoneError'
}
