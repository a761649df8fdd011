/**
 * Loaded into an agent by "node --import", before the agent itself: every call that changes something in the runtime is a step at which the
 * agent may die. The agent knows nothing of it.
 */
import { Client } from '@grpc/grpc-js'
import { watchStep } from './kill-steps.ts'

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

interface Named {
  readonly name: string
  readonly attempt: number
}
interface Subject {
  readonly pod: string
  readonly container: string
  readonly attempt: number
}
/** The fields of all requests and replies that say which pod a call is about. */
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
type Reply = (error: Error | null, response?: Message) => void

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

function describeStep(method: string, { pod, container, attempt }: Subject, { cmd = [] }: Message) {
  // What runs in a container has a name: the first word that it says, or its program.
  const program = /^echo (\w+)/.exec(cmd.at(-1) ?? '')?.[1] ?? cmd[0]
  const kind = [method, container, program].filter((word) => word !== undefined).join(' ')
  return { pod, kind, attempt, isTimed: method === 'ExecSync' }
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
  let call: unknown = { cancel() {} }
  watchStep(describeStep(method, subject, request), (done) => {
    call = send((error, response) => done(error === null, () => hear(error, response)))
  })
  return call
}
