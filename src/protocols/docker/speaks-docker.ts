import { connect } from 'node:net'

/**
 * What answers on a unix socket: Docker, something else (a CRI runtime), or nothing yet. Silent: the connection is taken and not answered, as
 * systemd does for a Docker that is still starting.
 */
export type Speaker = 'docker' | 'other' | 'silent' | 'nothing'

const PATIENCE_MS = 2000
const PING = 'GET /_ping HTTP/1.1\r\nHost: docker\r\nConnection: close\r\n\r\n'
const END_OF_HEADERS = '\r\n\r\n'
const MOST_BYTES = 16_384

/**
 * Asks a socket whether Docker is behind it: its ping is plain HTTP, which no CRI runtime speaks. By hand, since this is in the way of every start, and
 * the client of node:http is used for nothing else there.
 */
export async function askSpeaker(socketPath: string, signal: AbortSignal): Promise<Speaker> {
  return await new Promise((resolve, reject) => {
    let head = ''
    const socket = connect({ path: socketPath, signal })
    const answer = (speaker: Speaker) => {
      resolve(speaker)
      socket.destroy()
    }
    socket.setTimeout(PATIENCE_MS, () => answer('silent'))
    socket.on('data', (bytes) => {
      head += bytes.toString('latin1')
      const isAll = !'HTTP/'.startsWith(head.slice(0, 5)) || head.includes(END_OF_HEADERS) || head.length > MOST_BYTES
      if (isAll) answer(isDockerHead(head) ? 'docker' : 'other')
    })
    socket.once('end', () => answer('other'))
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (signal.aborted) reject(signal.reason)
      else answer(error.code === 'ENOENT' || error.code === 'ECONNREFUSED' ? 'nothing' : 'other')
    })
    socket.write(PING)
  })
}

function isDockerHead(text: string): boolean {
  const [head = ''] = text.split(END_OF_HEADERS)
  return head.startsWith('HTTP/') && /^api-version:/im.test(head)
}
