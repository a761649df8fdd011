/**
 * As kill-switch.ts, for an agent on Docker: every request that changes something in Docker is a step at which the agent may die. Making a
 * sandbox and starting it are two of them.
 */
import { EventEmitter } from 'node:events'
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import process from 'node:process'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { DockerSteps } from './docker-steps.ts'
import { watchStep } from './kill-steps.ts'

const steps = new DockerSteps()
const http = process.getBuiltinModule('node:http')
const original = http.request.bind(http) as (options: RequestOptions) => ClientRequest

/** A request that is sent with its end, and whose answer comes when the switch lets it. */
function request(options: RequestOptions): ClientRequest {
  const sent = { method: options.method ?? 'GET', url: options.path ?? '' }
  const teaches = steps.teaches(sent)
  const step = steps.find(sent)
  if (!String(options.socketPath).endsWith('docker.sock') || (step === undefined && !teaches)) return original(options)
  const proxy = new EventEmitter()
  const send = (body: string, done: (ok: boolean, answer: () => void) => void) => {
    const real = original(options)
    real.once('upgrade', (...args) => done(true, () => proxy.emit('upgrade', ...args)))
    real.once('error', (error) => done(false, () => proxy.emit('error', error)))
    real.once('response', (response: IncomingMessage) => {
      const ok = (response.statusCode ?? 500) < 400
      if (!teaches) return done(ok, () => proxy.emit('response', response))
      void text(response).then((answer) => {
        if (ok) steps.learn(sent, body, answer)
        const { statusCode, headers } = response
        done(ok, () =>
          proxy.emit('response', Object.assign(Readable.from([Buffer.from(answer)]), { statusCode, headers })),
        )
      })
    })
    real.end(body === '' ? undefined : body)
  }
  const end = (body = '') => {
    if (step === undefined) send(body, (_ok, answer) => answer())
    else watchStep(step, (done) => send(body, done))
  }
  return Object.assign(proxy, { end, destroy() {} }) as unknown as ClientRequest
}

Object.assign(http, { request })
