import { request } from '../../base/builtin/http.ts'

/**
 * What answers on a unix socket: Docker, something else (a CRI runtime), or nothing yet. Silent: the connection is taken and not answered, as
 * systemd does for a Docker that is still starting.
 */
export type Speaker = 'docker' | 'other' | 'silent' | 'nothing'

const PATIENCE_MS = 2000

/** Asks a socket whether Docker is behind it: its ping is plain HTTP, which no CRI runtime speaks. */
export async function askSpeaker(socketPath: string, signal: AbortSignal): Promise<Speaker> {
  return await new Promise((resolve, reject) => {
    const options = { socketPath, path: '/_ping', headers: { Host: 'docker' }, timeout: PATIENCE_MS, agent: false }
    const sent = request({ ...options, signal })
    const answer = (speaker: Speaker) => {
      resolve(speaker)
      sent.destroy()
    }
    sent.once('response', ({ headers }) => answer(headers['api-version'] === undefined ? 'other' : 'docker'))
    sent.once('timeout', () => answer('silent'))
    sent.on('error', (error: NodeJS.ErrnoException) => {
      if (signal.aborted) reject(signal.reason)
      else answer(error.code === 'ENOENT' || error.code === 'ECONNREFUSED' ? 'nothing' : 'other')
    })
    sent.end()
  })
}
