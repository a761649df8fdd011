import type { Step } from './kill-steps.ts'

interface Subject {
  readonly pod: string
  /** POD for the sandbox. */
  readonly container: string
  readonly attempt: number
}

const SANDBOX = 'POD'

/** The method and URL of a request to Docker. */
export interface SentRequest {
  readonly method: string
  readonly url: string
}

/** Which requests to Docker change something of a pod, and what of which pod: known by names and by what earlier answers said of ids. */
export class DockerSteps {
  readonly #subjects = new Map<string, Subject>()
  /** Commands by the ids that Docker gave them. */
  readonly #commands = new Map<string, { readonly subject: Subject; readonly program: string | undefined }>()

  /** Undefined for a request that changes nothing, or nothing of a pod. */
  find({ method, url }: SentRequest): Step | undefined {
    const { path, query } = parse(url)
    if (path === '/containers/create') {
      const subject = parseName(query.get('name') ?? '')
      return subject && toStep(['CreateSandbox', 'CreateContainer'], subject)
    }
    const [, exec] = /^\/exec\/(\w+)\/start$/.exec(path) ?? []
    const command = this.#commands.get(exec ?? '')
    if (command !== undefined)
      return { ...toStep(['ExecSync', 'ExecSync'], command.subject, command.program), isTimed: true }
    const [, id = '', action = ''] = /^\/containers\/(\w+)(?:\/(start|stop))?$/.exec(path) ?? []
    const subject = this.#subjects.get(id)
    if (subject === undefined) return undefined
    if (method === 'DELETE') return toStep(['RemovePodSandbox', 'RemoveContainer'], subject)
    if (action === 'start') return toStep(['RunPodSandbox', 'StartContainer'], subject)
    return action === 'stop' ? toStep(['StopPodSandbox', 'StopContainer'], subject) : undefined
  }

  /** Has the answer to this request to be learnt from? */
  teaches({ url }: SentRequest): boolean {
    return /^\/containers\/(create|json|\w+\/exec)$/.test(parse(url).path)
  }

  /** Takes what a good answer to such a request says of ids. */
  learn({ url }: SentRequest, sent: string, answer: string): void {
    const { path, query } = parse(url)
    if (path === '/containers/create') {
      const subject = parseName(query.get('name') ?? '')
      const { Id: id } = JSON.parse(answer) as { Id?: string }
      if (id !== undefined && subject !== undefined) this.#subjects.set(id, subject)
    } else if (path === '/containers/json') {
      for (const { Id: id, Names: names } of JSON.parse(answer) as { Id: string; Names: string[] }[]) {
        const subject = parseName(names[0] ?? '')
        if (subject !== undefined) this.#subjects.set(id, subject)
      }
    } else {
      const subject = this.#subjects.get(path.split('/')[2] ?? '')
      const { Id: id } = JSON.parse(answer) as { Id?: string }
      const { Cmd: cmd = [] } = JSON.parse(sent) as { Cmd?: string[] }
      const program = /^echo (\w+)/.exec(cmd.at(-1) ?? '')?.[1] ?? cmd[0]
      if (id !== undefined && subject !== undefined) this.#commands.set(id, { subject, program })
    }
  }
}

function parse(url: string): { readonly path: string; readonly query: URLSearchParams } {
  const { pathname, searchParams } = new URL(`http://docker${url}`)
  return { path: pathname.replace(/^\/v[\d.]+/, ''), query: searchParams }
}

function parseName(name: string): Subject | undefined {
  const [prefix, container = '', pod = '', , , attempt = '0'] = name.replace(/^\//, '').split('_')
  return prefix === 'k8s' ? { pod, container, attempt: Number(attempt) } : undefined
}

function toStep(kind: readonly [ofSandbox: string, ofContainer: string], subject: Subject, program?: string): Step {
  const { pod, container, attempt } = subject
  const words = container === SANDBOX ? [kind[0], 'sandbox'] : [kind[1], container, program]
  return { pod, kind: words.filter((word) => word !== undefined).join(' '), attempt }
}
