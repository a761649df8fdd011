/**
 * As kill-switch.ts, for an agent on Docker: every request that changes something in Docker is a step at which the agent may die. Making a
 * sandbox and starting it are two of them.
 */
import { EventEmitter } from 'node:events'
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import process from 'node:process'
import { Readable } from 'node:stream'
import { watchStep } from './kill-steps.ts'
import type { Step } from './kill-steps.ts'

interface Subject {
  readonly pod: string
  /** POD for the sandbox. */
  readonly container: string
  readonly attempt: number
}

const SANDBOX = 'POD'
const subjects = new Map<string, Subject>()
/** Commands by the ids that Docker gave them. */
const commands = new Map<string, { readonly subject: Subject; readonly program: string | undefined }>()

function parseName(name: string): Subject | undefined {
  const [prefix, container = '', pod = '', , , attempt = '0'] = name.replace(/^\//, '').split('_')
  return prefix === 'k8s' ? { pod, container, attempt: Number(attempt) } : undefined
}

function toStep(kind: readonly [ofSandbox: string, ofContainer: string], subject: Subject, program?: string): Step {
  const { pod, container, attempt } = subject
  const words = container === SANDBOX ? [kind[0], 'sandbox'] : [kind[1], container, program]
  return { pod, kind: words.filter((word) => word !== undefined).join(' '), attempt }
}

/** Undefined for a request that changes nothing, or nothing of a pod. */
function findStep(method: string, path: string, query: URLSearchParams): Step | undefined {
  if (path === '/containers/create') {
    const subject = parseName(query.get('name') ?? '')
    return subject && toStep(['CreateSandbox', 'CreateContainer'], subject)
  }
  const [, exec] = /^\/exec\/(\w+)\/start$/.exec(path) ?? []
  const command = commands.get(exec ?? '')
  if (command !== undefined)
    return { ...toStep(['ExecSync', 'ExecSync'], command.subject, command.program), isTimed: true }
  const [, id = '', action = ''] = /^\/containers\/(\w+)(?:\/(start|stop))?$/.exec(path) ?? []
  const subject = subjects.get(id)
  if (subject === undefined) return undefined
  if (method === 'DELETE') return toStep(['RemovePodSandbox', 'RemoveContainer'], subject)
  if (action === 'start') return toStep(['RunPodSandbox', 'StartContainer'], subject)
  return action === 'stop' ? toStep(['StopPodSandbox', 'StopContainer'], subject) : undefined
}

/** What answers say of ids. */
function learn(path: string, query: URLSearchParams, sent: string, answer: string): void {
  if (path === '/containers/create') {
    const subject = parseName(query.get('name') ?? '')
    const { Id: id } = JSON.parse(answer) as { Id?: string }
    if (id !== undefined && subject !== undefined) subjects.set(id, subject)
  } else if (path === '/containers/json') {
    for (const { Id: id, Names: names } of JSON.parse(answer) as { Id: string; Names: string[] }[]) {
      const subject = parseName(names[0] ?? '')
      if (subject !== undefined) subjects.set(id, subject)
    }
  } else {
    const subject = subjects.get(path.split('/')[2] ?? '')
    const { Id: id } = JSON.parse(answer) as { Id?: string }
    const { Cmd: cmd = [] } = JSON.parse(sent) as { Cmd?: string[] }
    const program = /^echo (\w+)/.exec(cmd.at(-1) ?? '')?.[1] ?? cmd[0]
    if (id !== undefined && subject !== undefined) commands.set(id, { subject, program })
  }
}

const http = process.getBuiltinModule('node:http')
const original = http.request.bind(http) as (options: RequestOptions) => ClientRequest

/** A request that is sent with its end, and whose answer comes when the switch lets it. */
function request(options: RequestOptions): ClientRequest {
  const { path: text = '', method = 'GET' } = options
  const { pathname, searchParams } = new URL(`http://docker${text}`)
  const path = pathname.replace(/^\/v[\d.]+/, '')
  const teaches = /^\/containers\/(create|json|\w+\/exec)$/.test(path)
  const step = findStep(method, path, searchParams)
  if (!String(options.socketPath).endsWith('docker.sock') || (step === undefined && !teaches)) return original(options)
  const proxy = new EventEmitter()
  const send = (body: string, done: (ok: boolean, answer: () => void) => void) => {
    const real = original(options)
    real.once('upgrade', (...args) => done(true, () => proxy.emit('upgrade', ...args)))
    real.once('error', (error) => done(false, () => proxy.emit('error', error)))
    real.once('response', (response: IncomingMessage) => {
      const ok = (response.statusCode ?? 500) < 400
      if (!teaches) return done(ok, () => proxy.emit('response', response))
      void readAll(response).then((answer) => {
        if (ok) learn(path, searchParams, body, answer)
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

async function readAll(response: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of response) text += String(chunk)
  return text
}

Object.assign(http, { request })
