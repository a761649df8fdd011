import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { errorMessage } from '../../../base/telemetry/error-text.ts'
import { exitCodes, NodeError } from '../node-error.ts'

/** Where an agent takes the commands of "deckhand shutdown". */
export function shutdownSocketOf(rootDirectory: string): string {
  return `${rootDirectory}/deckhand/shutdown.sock`
}

/** Whether the agent ends its pods, or has ended them, because the machine is going to shut down; an agent that does not say so does not. */
export async function isShuttingDown(rootDirectory: string, signal: AbortSignal): Promise<boolean> {
  const request = { path: shutdownSocketOf(rootDirectory), command: 'state', say: () => {} }
  try {
    return (await askShutdownSocket(request, signal)) === 'shutting down'
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof NodeError) return false
    throw error
  }
}

/** Gives the agent a command and resolves with how it went; meanwhile it says what it does. */
export async function askShutdownSocket(
  request: { readonly path: string; readonly command: string; readonly say: (line: string) => void },
  signal: AbortSignal,
): Promise<string> {
  const { path, command, say } = request
  const socket = connect({ path, signal })
  socket.on('error', () => {}) // The lines end with it.
  socket.write(`${command}\n`)
  try {
    for await (const text of createInterface(socket)) {
      const { line, end } = JSON.parse(text) as { readonly line?: string; readonly end?: string }
      if (line !== undefined) say(line)
      if (end !== undefined) return end
    }
    return command === 'begin'
      ? 'the agent has left; it goes on when it is back, ask again to wait for it'
      : 'the agent has left'
  } catch (cause) {
    signal.throwIfAborted()
    const why = errorMessage(cause)
    const message = `Cannot reach the agent at "${path}": ${why}; is it running, and is this its root directory?`
    throw new NodeError(message, exitCodes.otherState, { cause })
  }
}
