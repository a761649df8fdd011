import type { Duplex } from 'node:stream'
import { SpdyServer } from '../../streams/spdy/spdy-server.ts'
import type { SpdyServerStream } from '../../streams/spdy/spdy-server.ts'
import type { ExecStreams } from '../calls/exec-calls.ts'
import { runCommand, toCommandStatus, toFailureStatus } from './run-command.ts'
import type { DockerCommand } from './run-command.ts'

/** What one command is served with. */
export interface ServedCommand {
  readonly streams: ExecStreams
  /** Begins the command, once the client is ready for what it prints. */
  readonly open: () => Promise<DockerCommand>
}

/** A connection that was switched to another protocol. */
export interface SwitchedConnection {
  readonly socket: Duplex
  readonly head: Buffer
  /** Of the protocol of remote commands; from 4 on the end is reported as a Status. */
  readonly version: number
}

const STATUS_SINCE = 4
const RESIZE_SINCE = 3

/** Serves a command to a client that speaks SPDY: a stream for each of its streams, and one for how it ends. */
export async function serveSpdyCommand(
  { socket, head, version }: SwitchedConnection,
  { streams, open }: ServedCommand,
): Promise<void> {
  using server = new SpdyServer(socket, head)
  const expected = expectedStreams(streams, version)
  const opened = new Map<string, SpdyServerStream>()
  const complete = Promise.withResolvers<void>()
  const reading = (async () => {
    for await (const stream of server.streams()) {
      opened.set(stream.headers['streamtype'] ?? '', stream)
      if (expected.every((type) => opened.has(type))) complete.resolve()
    }
    complete.reject(new Error('the client left'))
  })()
  reading.catch((error: unknown) => complete.reject(error as Error))
  await complete.promise
  await run({ opened, left: reading }, version, open)
  socket.end()
  await reading.catch(() => {})
  socket.destroy()
}

function expectedStreams({ stdin, stdout, stderr, tty }: ExecStreams, version: number): readonly string[] {
  return [
    'error',
    ...(stdin ? ['stdin'] : []),
    ...(stdout ? ['stdout'] : []),
    ...(stderr && !tty ? ['stderr'] : []),
    ...(tty && version >= RESIZE_SINCE ? ['resize'] : []),
  ]
}

async function run(
  { opened, left }: { readonly opened: ReadonlyMap<string, SpdyServerStream>; readonly left: Promise<void> },
  version: number,
  open: ServedCommand['open'],
): Promise<void> {
  const client = {
    stdin: opened.get('stdin')?.input,
    resize: opened.get('resize')?.input,
    left,
    write: async (stream: 'stdout' | 'stderr', bytes: Uint8Array) => await opened.get(stream)?.write(bytes),
  }
  const status = await open()
    .then((command) => runCommand(client, command))
    .then(toCommandStatus, toFailureStatus)
  for (const type of ['stdout', 'stderr']) await opened.get(type)?.finish()
  const error = opened.get('error')
  const text = version >= STATUS_SINCE ? JSON.stringify(status) : oldStatus(status)
  if (text !== '') await error?.write(Buffer.from(text))
  await error?.finish()
}

/** Before version 4 success is silence. */
function oldStatus({ status, message }: Readonly<Record<string, unknown>>): string {
  return status === 'Success' ? '' : String(message)
}
