import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { buffer } from 'node:stream/consumers'
import { DockerSteps } from '../e2e/support/docker-steps.ts'

/** When Docker dies: while it is at a step, or when it has answered and the agent has not heard of it. */
export type DockerDeath = 'unanswered' | 'answered'

/** A step of a pod, "<what is done>#<how many such steps it has seen>", and what is known of its outcome. */
export interface TakenStep {
  readonly pod: string
  readonly step: string
  outcome: 'sent' | 'answered' | 'failed'
}

// Long enough for Docker to be at it, shorter than it takes to be answered.
const AT_IT_MS = 10

/** Between an agent and Docker, on a socket of its own: has Docker killed at the steps that are planned, once at each. */
export class KillingProxy implements AsyncDisposable {
  readonly taken: TakenStep[] = []
  readonly #planned = new Map<string, DockerDeath>()
  readonly #docker: string
  readonly #kill: () => Promise<void>
  readonly #steps = new DockerSteps()
  readonly #server = createServer((incoming, response) => {
    // A connection that broke is how the agent hears of the death.
    this.#pass(incoming, response).catch(() => response.destroy())
  })

  private constructor(docker: string, kill: () => Promise<void>) {
    this.#docker = docker
    this.#kill = kill
  }

  static async start(paths: { readonly own: string; readonly docker: string }, kill: () => Promise<void>) {
    const proxy = new KillingProxy(paths.docker, kill)
    proxy.#server.listen(paths.own)
    await once(proxy.#server, 'listening')
    return proxy
  }

  /** Docker dies when this pod comes to this step. */
  plan(pod: string, step: string, when: DockerDeath): void {
    this.#planned.set(`${pod} ${step}`, when)
  }

  /** The steps that were planned and that no pod came to. */
  get missed(): readonly string[] {
    return [...this.#planned.keys()]
  }

  async #pass(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => {})
    const sent = { method: incoming.method ?? 'GET', url: incoming.url ?? '' }
    const body = await buffer(incoming)
    const taken = this.#take(sent)
    const when = taken && this.#strike(taken)
    const answering = this.#forward(incoming, body)
    if (when === 'unanswered') {
      answering.catch(() => {})
      await sleep(AT_IT_MS)
      await this.#kill()
      throw new Error('Docker was killed while it was at this')
    }
    const answer = await answering
    const ok = (answer.statusCode ?? 500) < 400
    if (taken !== undefined) taken.outcome = ok ? 'answered' : 'failed'
    if (when === 'answered') {
      await this.#kill()
      throw new Error('Docker was killed when it had done this')
    }
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    if (this.#steps.teaches(sent)) {
      const whole = await buffer(answer)
      if (ok) this.#steps.learn(sent, body.toString(), whole.toString())
      response.end(whole)
      return
    }
    answer.once('error', () => response.destroy())
    response.once('close', () => answer.destroy())
    answer.pipe(response)
  }

  #take(sent: { readonly method: string; readonly url: string }): TakenStep | undefined {
    const found = this.#steps.find(sent)
    if (found === undefined) return undefined
    const { pod, kind } = found
    const before = this.taken.filter((taken) => taken.pod === pod && taken.step.startsWith(`${kind}#`)).length
    const taken: TakenStep = { pod, step: `${kind}#${before + 1}`, outcome: 'sent' }
    this.taken.push(taken)
    return taken
  }

  #strike({ pod, step }: TakenStep): DockerDeath | undefined {
    const key = `${pod} ${step}`
    const when = this.#planned.get(key)
    this.#planned.delete(key)
    return when
  }

  async #forward({ method, url, headers }: IncomingMessage, body: Buffer): Promise<IncomingMessage> {
    return await new Promise((resolve, reject) => {
      const options = { socketPath: this.#docker, method, path: url, headers, agent: false }
      const sent = request(options, resolve)
      sent.once('error', reject)
      sent.end(body)
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }
}
