import type { IncomingMessage } from 'node:http'
import type { Verbosity } from '../../base/telemetry/create-logger.ts'
import type { Route } from '../http/route.ts'
import { sendText } from '../http/send-answer.ts'

const MAX_TEXT_BYTES = 64
const MAX_VERBOSITY = 2 ** 31 - 1

/** PUT /debug/flags/v: how much is logged from now on. */
export function createDebugFlagsRoute(verbosity: Verbosity): Route {
  return {
    path: '/debug/flags/v',
    methods: 'any',
    async handle({ raw }, response) {
      if (raw.method !== 'PUT') return sendText(response, 406, 'expected a PUT request\n')
      const text = await readText(raw)
      const level = text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : undefined
      if (level === undefined || level > MAX_VERBOSITY)
        return sendText(response, 400, `expected a whole number from 0 to ${MAX_VERBOSITY}\n`)
      verbosity.set(level)
      sendText(response, 200, `successfully set the verbosity of the log to ${level}\n`)
    },
  }
}

/** Undefined for one that is too long to be a number. */
async function readText(request: IncomingMessage): Promise<string | undefined> {
  let text = ''
  // Not to its end, and without closing the connection: the answer still goes there.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    text += chunk.toString('latin1')
    if (text.length > MAX_TEXT_BYTES) return undefined
  }
  return text.trim()
}
