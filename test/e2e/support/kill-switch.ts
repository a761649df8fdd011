/**
 * Loaded into an agent by "node --import", before the agent itself. It notes every call that changes something in the runtime, and kills the
 * process at the steps that a plan names, once at each. The agent knows nothing of it. A pod that has come to its step waits there until no
 * other comes to its own any more; what is under way for others is let through to its end. One kill then hits all who wait, each exactly
 * where it should, and everybody else between two calls.
 */
import { appendFileSync, readFileSync } from 'node:fs'
import process from 'node:process'
import { Client } from '@grpc/grpc-js'
import type { KillPlan, NotedCall } from './kill-plan.ts'

const CHANGES = new Set([
  'RunPodSandbox',
  'CreateContainer',
  'StartContainer',
  'ExecSync',
  'StopContainer',
  'StopPodSandbox',
  'RemoveContainer',
  'RemovePodSandbox',
])
// Long enough for the request to be on its way, shorter than the runtime needs to answer.
const ON_ITS_WAY_MS = 3
// As long as nobody else arrives for so long, nobody will soon.
const QUIET_MS = 200

interface Named {
  readonly name: string
  readonly attempt: number
}
interface Subject {
  readonly pod: string
  readonly container: string
  readonly attempt: number
}
/** The fields of all requests and replies that tell which pod a call is about. */
interface Message {
  readonly config?: { readonly metadata?: Named }
  readonly sandboxConfig?: { readonly metadata?: Named }
  readonly podSandboxId?: string
  readonly containerId?: string
  readonly cmd?: readonly string[]
  readonly items?: readonly { readonly id: string; readonly metadata?: Named }[]
  readonly containers?: readonly {
    readonly id: string
    readonly metadata?: Named
    readonly labels: Readonly<Record<string, string>>
  }[]
}
type Call = Omit<NotedCall, 'at' | 'event'>
type Reply = (error: Error | null, response?: Message) => void

const folder = process.env['KILL_SWITCH'] ?? ''
const plan = JSON.parse(readFileSync(`${folder}/plan.json`, 'utf8')) as KillPlan
const journal = `${folder}/journal`
const earlier = readFileSync(journal, 'utf8')
  .split('\n')
  .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as NotedCall]))
const struck = new Set(earlier.flatMap(({ pod, step, event }) => (event === 'killed' ? [`${pod} ${step}`] : [])))
const counts = new Map<string, number>()
for (const { pod, step, event } of earlier) {
  const [kind = '', count = ''] = step.split('#')
  if (event === 'sent') counts.set(`${pod} ${kind}`, Number(count))
}
const subjects = new Map<string, Subject>()

function toSubject(pod: Named | undefined, container: Named | undefined): Subject {
  return { pod: pod?.name ?? '', container: container?.name ?? 'sandbox', attempt: (container ?? pod)?.attempt ?? 0 }
}

function findSubject({ config, sandboxConfig, podSandboxId, containerId }: Message): Subject | undefined {
  if (sandboxConfig !== undefined) return toSubject(sandboxConfig.metadata, config?.metadata)
  if (config !== undefined) return toSubject(config.metadata, undefined)
  return subjects.get(containerId ?? podSandboxId ?? '')
}

function learn(subject: Subject | undefined, { podSandboxId, containerId, items = [], containers = [] }: Message) {
  const id = containerId ?? podSandboxId
  if (subject !== undefined && id !== undefined) subjects.set(id, subject)
  for (const { id: sandbox, metadata } of items) subjects.set(sandbox, toSubject(metadata, undefined))
  for (const { id: container, metadata, labels } of containers) {
    const pod = { name: labels['io.kubernetes.pod.name'] ?? '', attempt: 0 }
    subjects.set(container, toSubject(pod, metadata))
  }
}

function note(call: Omit<NotedCall, 'at'>): void {
  appendFileSync(journal, `${JSON.stringify({ at: Date.now(), ...call })}\n`)
}

const waiting: (() => void)[] = []
let underWay = 0
let striking = false
let quiet: NodeJS.Timeout | undefined

/** Once nothing else is under way: what has to be unanswered is sent, and that is the end. */
function strike(): void {
  striking = true
  if (underWay > 0) return
  for (const goOn of waiting) goOn()
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), ON_ITS_WAY_MS)
}

/** Keeps a call at its step until the kill; what it does last is done just before. */
function waitForKill(call: Call, last: () => void): void {
  waiting.push(() => {
    note({ ...call, event: 'killed' })
    last()
  })
  clearTimeout(quiet)
  if (striking) strike()
  else quiet = setTimeout(strike, QUIET_MS)
}

function count(method: string, { pod, container, attempt }: Subject, { cmd = [] }: Message): Call {
  // What runs in a container has a name: the first word that it says, or its program.
  const program = /^echo (\w+)/.exec(cmd.at(-1) ?? '')?.[1] ?? cmd[0]
  const kind = [method, container, program].filter((word) => word !== undefined).join(' ')
  const number = (counts.get(`${pod} ${kind}`) ?? 0) + 1
  counts.set(`${pod} ${kind}`, number)
  return { pod, step: `${kind}#${number}`, attempt }
}

function isPlanned({ pod, step }: Call): boolean {
  return plan[pod]?.steps.includes(step) === true && !struck.has(`${pod} ${step}`)
}

const prototype = Client.prototype as unknown as {
  makeUnaryRequest: (path: string, ...rest: readonly unknown[]) => unknown
}
const original = prototype.makeUnaryRequest
prototype.makeUnaryRequest = function makeUnaryRequest(path, ...rest) {
  const [serialize, deserialize, request, metadata, reply] = rest as [unknown, unknown, Message, unknown, Reply]
  const subject = findSubject(request)
  const send = (answer: Reply) => original.call(this, path, serialize, deserialize, request, metadata, answer)
  const hear: Reply = (error, response) => {
    if (response !== undefined) learn(subject, response)
    reply(error, response)
  }
  const method = path.split('/').at(-1) ?? ''
  if (subject === undefined || !CHANGES.has(method)) return send(hear)
  // Nothing new begins any more.
  if (striking) return { cancel() {} }
  const call = count(method, subject, request)
  const when = isPlanned(call) ? plan[call.pod]?.when : undefined
  if (when === 'unanswered') {
    waitForKill(call, () => {
      note({ ...call, event: 'sent' })
      send(() => {})
    })
    return { cancel() {} }
  }
  note({ ...call, event: 'sent' })
  underWay += 1
  return send((error, response) => {
    underWay -= 1
    note({ ...call, event: error === null ? 'answered' : 'failed' })
    if (when === 'answered') return waitForKill(call, () => {})
    hear(error, response)
    if (striking) strike()
  })
}
