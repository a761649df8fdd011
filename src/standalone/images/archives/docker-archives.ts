import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { request } from '../../../base/builtin/http.ts'
import type { IncomingMessage } from '../../../base/builtin/http.ts'
import { isRecord } from '../../../base/document/is-record.ts'
import type { ImageArchives } from './image-archives.ts'

// An answer of Docker's about a load: a line for each layer at most.
const LARGEST_ANSWER = 1024 * 1024

/** Archives of Docker, through its API. */
export function createDockerArchives(socketPath: string): ImageArchives {
  return {
    load: async (archive, signal) => {
      const path = '/images/load?quiet=1'
      const answer = await readText(await ask({ socketPath, method: 'POST', path }, archive, signal))
      const failure = findFailure(answer)
      if (failure !== undefined) throw new Error(failure)
    },
    save: async (names, archive, signal) => {
      const query = names.map((name) => `names=${encodeURIComponent(name)}`).join('&')
      const response = await ask({ socketPath, method: 'GET', path: `/images/get?${query}` }, undefined, signal)
      await pipeline(response, archive, { end: false, signal })
    },
    untag: async (name, signal) => {
      const path = `/images/${encodeURIComponent(name)}`
      await readText(await ask({ socketPath, method: 'DELETE', path }, undefined, signal))
    },
  }
}

interface DockerTarget {
  readonly socketPath: string
  readonly method: string
  readonly path: string
}

async function ask(target: DockerTarget, body: Readable | undefined, signal: AbortSignal): Promise<IncomingMessage> {
  const headers = body === undefined ? {} : { 'Content-Type': 'application/x-tar' }
  const sent = request({ ...target, headers, agent: false, signal })
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    sent.once('response', resolve)
    sent.once('error', reject)
  })
  // Whatever ends the archive early ends the request, and that error is the one that counts.
  const given = body === undefined ? Promise.resolve(sent.end()) : pipeline(body, sent, { signal })
  const [response] = await Promise.all([answered, given])
  if (response.statusCode === 200) return response
  const text = await readText(response)
  throw new Error(findFailure(text) ?? `Docker answered ${response.statusCode}: ${text.trim()}`)
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    if (size < LARGEST_ANSWER) chunks.push(chunk)
    size += chunk.length
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** Docker answers 200 before it has read the archive; what goes wrong then is in one of the lines. */
function findFailure(answer: string): string | undefined {
  for (const line of answer.split('\n')) {
    try {
      const value: unknown = JSON.parse(line)
      if (!isRecord(value)) continue
      const text = value['error'] ?? value['message']
      if (typeof text === 'string') return text
    } catch {
      // Not a line of JSON.
    }
  }
  return undefined
}
