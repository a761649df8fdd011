import { sessionKey } from '../session.ts'

/** A command that runs in a container, with a terminal. */
export interface RunningCommand {
  send(text: string): void
  resize(size: { readonly cols: number; readonly rows: number }): void
  /** Leaves it; the terminal hangs up on it. */
  close(): void
}

export interface CommandEvents {
  readonly onOpen: () => void
  readonly onOutput: (bytes: Uint8Array) => void
  /** With how it ended; undefined when the connection broke before that was known. */
  readonly onEnd: (how: string | undefined) => void
}

const PROTOCOLS = ['v5.channel.k8s.io', 'v4.channel.k8s.io']
const CHANNELS = { input: 0, output: 1, errors: 2, status: 3, size: 4 } as const

/** The address of a command in a container, below that of the page. */
export function commandPath(
  pod: { readonly namespace: string; readonly name: string },
  container: string,
  command: readonly string[],
): string {
  const query = new URLSearchParams({ container, stdin: 'true', stdout: 'true', tty: 'true' })
  for (const word of command) query.append('command', word)
  return `/api/v1/namespaces/${pod.namespace}/pods/${pod.name}/exec?${query.toString()}`
}

export function openCommand(path: string, events: CommandEvents): RunningCommand {
  // Browsers send no header with it; a name of a protocol is in no address, and so in no log.
  const socket = new WebSocket(path, [...PROTOCOLS, `deckhand-key.${sessionKey()}`])
  socket.binaryType = 'arraybuffer'
  const encoder = new TextEncoder()
  let how: string | undefined
  const send = (channel: number, text: string) => {
    if (socket.readyState !== WebSocket.OPEN) return
    const bytes = encoder.encode(text)
    const message = new Uint8Array(bytes.length + 1)
    message[0] = channel
    message.set(bytes, 1)
    socket.send(message)
  }
  socket.addEventListener('open', events.onOpen)
  socket.addEventListener('message', ({ data }: MessageEvent<ArrayBuffer>) => {
    const bytes = new Uint8Array(data)
    const [channel] = bytes
    if (channel === CHANNELS.output || channel === CHANNELS.errors) events.onOutput(bytes.subarray(1))
    else if (channel === CHANNELS.status) how = parseCommandEnd(new TextDecoder().decode(bytes.subarray(1)))
  })
  socket.addEventListener('close', () => events.onEnd(how))
  return {
    send: (text) => send(CHANNELS.input, text),
    resize: ({ cols, rows }) => send(CHANNELS.size, JSON.stringify({ Width: cols, Height: rows })),
    close: () => socket.close(),
  }
}

interface CommandStatus {
  readonly status?: string
  readonly message?: string
  readonly details?: { readonly causes?: readonly { readonly reason?: string; readonly message?: string }[] }
}

/** How a command ended, of the status that the server sends last. */
function parseCommandEnd(text: string): string {
  try {
    const { status, message, details } = JSON.parse(text) as CommandStatus
    if (status === 'Success') return 'ended with exit code 0'
    const code = details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message
    if (code !== undefined) return `ended with exit code ${code}`
    return message ?? 'ended, the server does not say how'
  } catch {
    return 'ended, the server does not say how'
  }
}
