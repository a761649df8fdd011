import type { Duplex } from 'node:stream'
import { errorMessage } from '../../../base/telemetry/error-text.ts'
import { readChunks } from '../../streams/read-chunks.ts'
import { writeBytes } from '../../streams/write-bytes.ts'
import { DockerFrames } from '../api/docker-frames.ts'
import { parseSizes } from './parse-sizes.ts'
import type { TerminalSize } from './parse-sizes.ts'
import { internalErrorStatus } from '../../streams/compute-command-status.ts'

/** The client's side of a command, whatever protocol it speaks. */
export interface CommandClient {
  /** Undefined where the client sends none. */
  readonly stdin: AsyncIterable<Buffer> | undefined
  /** Sizes of the terminal as JSON, one after the other. */
  readonly resize: AsyncIterable<Buffer> | undefined
  /** Settles when the client has closed its connection. */
  readonly left: Promise<void>
  write(stream: 'stdout' | 'stderr', bytes: Uint8Array): Promise<void>
}

/** Docker's side of a command. */
export interface DockerCommand {
  readonly socket: Duplex
  readonly tty: boolean
  resize(size: TerminalSize): Promise<void>
  /** Waits for the end; undefined where no caller waits for one, as with a container that was attached to. */
  exitCode(): Promise<number | undefined>
}

/** Carries the streams of a command between client and Docker until its output ends. Returns how it ended. */
export async function runCommand(client: CommandClient, command: DockerCommand): Promise<number | undefined> {
  const { socket } = command
  socket.on('error', () => {})
  // Both end with the connection of the client, or with that of Docker.
  void sendInput(client.stdin, socket).catch(() => {})
  void followSizes(client.resize, command).catch(() => {})
  // Docker has no way to end a command; this takes its streams from it.
  const leave = () => void socket.destroy()
  client.left.then(leave, leave)
  try {
    await receiveOutput(client, command)
  } finally {
    socket.destroy()
  }
  return await command.exitCode()
}

async function sendInput(stdin: AsyncIterable<Buffer> | undefined, socket: Duplex): Promise<void> {
  if (stdin === undefined) return
  for await (const chunk of stdin) await writeBytes(socket, chunk)
  // Half a close: what the command prints still comes.
  socket.end()
}

async function followSizes(resize: AsyncIterable<Buffer> | undefined, command: DockerCommand): Promise<void> {
  if (resize === undefined) return
  for await (const size of parseSizes(resize)) await command.resize(size).catch(() => {})
}

async function receiveOutput(client: CommandClient, { socket, tty }: DockerCommand): Promise<void> {
  const frames = new DockerFrames()
  for await (const chunk of readChunks(socket)) {
    if (tty) await client.write('stdout', chunk)
    else for (const { stream, bytes } of frames.push(chunk)) await client.write(stream, bytes)
  }
}

/** What a client gets at the end of a command: a Status of Kubernetes. */
export function toCommandStatus(exitCode: number | undefined): Readonly<Record<string, unknown>> {
  if (exitCode === undefined || exitCode === 0) return { metadata: {}, status: 'Success' }
  return {
    metadata: {},
    status: 'Failure',
    message: `command terminated with non-zero exit code: error executing command, exit code ${exitCode}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(exitCode) }] },
  }
}

/** The same for a command that could not be run. */
export function toFailureStatus(error: unknown): Readonly<Record<string, unknown>> {
  return internalErrorStatus(`error executing command in container: ${errorMessage(error)}`)
}
