import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:https'
import type { IncomingMessage } from 'node:http'
import { createInterface } from 'node:readline'
import type { Interface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import process from 'node:process'
import type { Samples } from './rows.ts'
import type { Bench, Scenario } from './scenario.ts'
import { memoryUse } from './usage.ts'

const PODS = 1000
const WATCHERS = 50
const AT_ONCE = 20
// Decoding the events of 50 watchers would measure the reader: one in ten takes the time, the others only read.
const TIMED_SHARE = 10
const PATH = '/api/v1/namespaces/default/pods'
const CHILD = fileURLToPath(new URL('api-child.ts', import.meta.url))

/** The API of the standalone node with many pods and many watchers. It has no counterpart in another kubelet. */
export const apiScenario: Scenario = {
  name: 'api',
  rows: ['api-writes', 'api-watch', 'api-memory'],
  isOwn: true,
  async measure({ lab, signal }: Bench): Promise<Samples> {
    const child = spawn(process.execPath, [CHILD, `${lab.folder}/api`], { stdio: ['pipe', 'pipe', 'inherit'] })
    const ended = once(child, 'exit')
    try {
      const [line] = (await once(createInterface(child.stdout), 'line', { signal })) as [string]
      const client = new ApiClient(JSON.parse(line) as ApiAddress)
      return { ...(await measureLoad(client)), 'api-memory': [(await memoryUse(child.pid ?? 0)).pssMegabytes] }
    } finally {
      child.stdin.end()
      await ended
    }
  },
}

interface ApiAddress {
  readonly server: string
  readonly authorityPem: string
  readonly admin: { readonly cert: string; readonly key: string }
}

/** Talks to an API as its administrator. */
class ApiClient {
  readonly #server: string
  readonly #tls: { readonly ca: string; readonly cert: string; readonly key: string }
  readonly #agent: Agent

  constructor({ server, authorityPem, admin }: ApiAddress) {
    this.#server = server
    this.#tls = { ca: authorityPem, ...admin }
    this.#agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE, ...this.#tls })
  }

  async send(method: string, path: string, body: object, type = 'application/json'): Promise<void> {
    const text = JSON.stringify(body)
    const headers = { 'content-type': type, 'content-length': Buffer.byteLength(text) }
    const sent = request(`${this.#server}${path}`, { method, headers, agent: this.#agent })
    sent.end(text)
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    response.resume()
    await once(response, 'end')
    if ((response.statusCode ?? 500) >= 300) throw new Error(`Cannot ${method} "${path}": ${response.statusCode}`)
  }

  async watch(path: string): Promise<IncomingMessage> {
    const sent = request(`${this.#server}${path}`, { ...this.#tls, agent: false })
    sent.end()
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    return response
  }
}

/** Each pod is made, gets a status and goes; every watcher gets all of these events. */
async function measureLoad(client: ApiClient): Promise<Samples> {
  const sentAt = new Map<string, number>()
  const delays: number[] = []
  const watches = await Promise.all(Array.from({ length: WATCHERS }, () => client.watch(`${PATH}?watch=1`)))
  const reported = watches.map((watch, index) =>
    index % TIMED_SHARE === 0 ? takeTimes(createInterface(watch), sentAt, delays) : countLines(watch),
  )
  const status = { status: { phase: 'Running', podIP: '10.0.0.1', conditions: [{ type: 'Ready', status: 'True' }] } }
  const started = performance.now()
  const write = async (index: number, type: string, send: () => Promise<void>) => {
    sentAt.set(`${type} pod-${index}`, performance.now())
    await send()
  }
  await inParallel((index) => write(index, 'ADDED', () => client.send('POST', PATH, pod(index))))
  await inParallel((index) => {
    const patch = 'application/strategic-merge-patch+json'
    return write(index, 'MODIFIED', () => client.send('PATCH', `${PATH}/pod-${index}/status`, status, patch))
  })
  await inParallel((index) =>
    write(index, 'DELETED', () => client.send('DELETE', `${PATH}/pod-${index}`, { gracePeriodSeconds: 0 })),
  )
  const seconds = (performance.now() - started) / 1000
  await Promise.all(reported)
  for (const watch of watches) watch.destroy()
  delays.sort((a, b) => a - b)
  return {
    'api-writes': [(PODS * 3) / seconds],
    'api-watch': [(delays[Math.floor(delays.length * 0.99)] ?? 0) / 1000],
  }
}

function pod(index: number): object {
  const container = { name: 'c', image: 'registry.example/app:1', env: [{ name: 'A', value: 'x'.repeat(200) }] }
  return { metadata: { name: `pod-${index}`, labels: { app: `app-${index % 10}` } }, spec: { containers: [container] } }
}

async function inParallel(work: (index: number) => Promise<void>): Promise<void> {
  let next = 0
  const worker = async () => {
    while (next < PODS) await work(next++)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}

async function takeTimes(lines: Interface, sentAt: ReadonlyMap<string, number>, delays: number[]): Promise<void> {
  let left = PODS * 3
  for await (const line of lines) {
    const [, type, name] = /^\{"type":"(\w+)".*?"name":"(pod-\d+)"/.exec(line) ?? []
    delays.push(performance.now() - (sentAt.get(`${type} ${name}`) ?? 0))
    if (--left === 0) return
  }
}

async function countLines(watch: IncomingMessage): Promise<void> {
  let left = PODS * 3
  for await (const chunk of watch as AsyncIterable<Buffer>) {
    for (let at = chunk.indexOf(0x0a); at >= 0; at = chunk.indexOf(0x0a, at + 1)) left--
    if (left <= 0) return
  }
}
