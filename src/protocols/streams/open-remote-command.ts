import type { Duplex } from 'node:stream'
import { openUpgrade } from './upgrade/open-upgrade.ts'
import { SpdyClient } from './spdy/spdy-client.ts'

/** Which streams a command has. */
export interface CommandStreams {
  readonly stdin: boolean
  readonly stdout: boolean
  readonly stderr: boolean
  readonly tty: boolean
}

/** Where a runtime serves a command, once, to the first client that connects. */
export interface CommandServer {
  readonly connect: (signal: AbortSignal) => Promise<Duplex>
  /** For the header of this name. */
  readonly host: string
  readonly path: string
}

/** A command that is about to run, with the numbers of its streams. */
export interface OpenCommand {
  readonly connection: Duplex
  readonly spdy: SpdyClient
  readonly version: number
  readonly streams: {
    readonly error: number
    readonly stdin?: number
    readonly stdout?: number
    readonly stderr?: number
    readonly resize?: number
  }
}

const VERSIONS = [5, 4, 3, 2] as const
const PROTOCOL = 'X-Stream-Protocol-Version'

/** Switches to SPDY and opens the streams in the order that all clients use. */
export async function openRemoteCommand(
  server: CommandServer,
  wanted: CommandStreams,
  signal: AbortSignal,
): Promise<OpenCommand> {
  const { connection, version } = await openSpdy(server, signal)
  try {
    const spdy = new SpdyClient(connection)
    const open = async (streamType: string) => await spdy.open({ streamType })
    const streams = {
      error: await open('error'),
      ...(wanted.stdin ? { stdin: await open('stdin') } : {}),
      ...(wanted.stdout ? { stdout: await open('stdout') } : {}),
      ...(wanted.stderr && !wanted.tty ? { stderr: await open('stderr') } : {}),
      ...(wanted.tty && version >= 3 ? { resize: await open('resize') } : {}),
    }
    return { connection, spdy, version, streams }
  } catch (error) {
    connection.destroy()
    throw error
  }
}

async function openSpdy({ connect, host, path }: CommandServer, signal: AbortSignal) {
  const offered = [...VERSIONS.map((version) => `v${version}.channel.k8s.io`), 'channel.k8s.io']
  const headers = [
    'Host',
    host,
    'Connection',
    'Upgrade',
    'Upgrade',
    'SPDY/3.1',
    ...offered.flatMap((name) => [PROTOCOL, name]),
  ]
  const { kind, reply, connection } = await openUpgrade({ connect, method: 'POST', path, headers }, signal)
  if (kind === 'answered') {
    const text = await readStart(reply).catch(() => '')
    connection.destroy()
    throw new Error(`the runtime answered ${reply.statusCode}: ${text.trim()}`)
  }
  const chosen = String(reply.headers[PROTOCOL.toLowerCase()] ?? '')
  return { connection, version: VERSIONS.find((version) => chosen === `v${version}.channel.k8s.io`) ?? 1 }
}

const LONGEST_EXCUSE = 4096

async function readStart(reply: AsyncIterable<unknown>): Promise<string> {
  let text = ''
  for await (const chunk of reply) {
    text += String(chunk)
    if (text.length > LONGEST_EXCUSE) break
  }
  return text.slice(0, LONGEST_EXCUSE)
}
