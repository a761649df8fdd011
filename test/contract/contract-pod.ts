import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { CriClient } from '../../src/protocols/cri/cri-client.ts'
import { PodSandboxConfig } from '../../src/protocols/cri/generated/runtime-v1.ts'
import type { ContainerState, ContainerStatus, PodSandboxStatus } from '../../src/protocols/cri/generated/runtime-v1.ts'
import { programs } from './contract-programs.ts'

/** What a case of the contract works with. */
export interface ContractSubject {
  readonly client: CriClient
  readonly image: string
  readonly cgroupParent: string
  /** How the runtime shows a container that cannot start. */
  readonly cannotStart: { readonly exitCode: number; readonly reason: string }
  /** A folder for container logs. */
  readonly logs: string
}

/** A call that the runtime refused. */
export interface FailedCall {
  readonly code: string
  readonly detail: string
}

/** True where a name is taken, in the words by which an agent knows that it has to look again; containerd 2 has another code for it. */
export function isReserved({ code, detail }: FailedCall, name: string, id: string): boolean {
  return ['Unknown', 'FailedPrecondition'].includes(code) && detail.endsWith(`name "${name}" is reserved for "${id}"`)
}

const POLL_MS = 10

/** A sandbox of one case, removed at its end with all that is in it. */
export class ContractPod implements AsyncDisposable {
  readonly config: PodSandboxConfig
  readonly #subject: ContractSubject
  readonly #signal: AbortSignal
  id = ''

  static async run(subject: ContractSubject, uid: string, signal: AbortSignal): Promise<ContractPod> {
    const pod = new ContractPod(subject, uid, signal)
    const { podSandboxId } = await subject.client.runPodSandbox({ config: pod.config }, signal)
    pod.id = podSandboxId
    return pod
  }

  private constructor(subject: ContractSubject, uid: string, signal: AbortSignal) {
    this.#subject = subject
    this.#signal = signal
    this.config = PodSandboxConfig.fromPartial({
      metadata: { name: 'pod', namespace: 'contract', uid, attempt: 0 },
      hostname: 'pod',
      logDirectory: `${subject.logs}/${uid}`,
      labels: { 'io.kubernetes.pod.uid': uid },
      annotations: { note: 'kept as it is' },
      linux: { cgroupParent: subject.cgroupParent, securityContext: { namespaceOptions: { pid: 1 } } },
    })
  }

  async create(name: string, program: keyof typeof programs, image = this.#subject.image): Promise<string> {
    const { containerId } = await this.#subject.client.createContainer(
      {
        podSandboxId: this.id,
        config: {
          metadata: { name, attempt: 0 },
          image: { image },
          command: programs[program].command,
          labels: { name },
          logPath: `${name}.log`,
        },
        sandboxConfig: this.config,
      },
      this.#signal,
    )
    return containerId
  }

  async start(name: string, program: keyof typeof programs): Promise<string> {
    const containerId = await this.create(name, program)
    await this.startCreated(containerId, name, program)
    return containerId
  }

  /** Starts what create() made, and waits until its program answers to signals. */
  async startCreated(containerId: string, name: string, program: keyof typeof programs): Promise<void> {
    await this.#subject.client.startContainer({ containerId }, this.#signal)
    const { fake } = programs[program]
    if ('prints' in fake) await this.#says(`${name}.log`, fake.prints)
  }

  /** A signal that comes before the program can answer to it would end it. A runtime without logs has programs that answer at once. */
  async #says(log: string, text: string): Promise<void> {
    for (;;) {
      const said = await readFile(`${this.config.logDirectory}/${log}`, 'utf8').catch(() => text)
      if (said.includes(text)) return
      await delay(POLL_MS, undefined, { signal: this.#signal })
    }
  }

  async containerStatus(containerId: string): Promise<ContainerStatus> {
    const { status } = await this.#subject.client.containerStatus({ containerId }, this.#signal)
    if (status === undefined) throw new Error('Cannot read the container: no status')
    return status
  }

  async status(): Promise<PodSandboxStatus> {
    const { status } = await this.#subject.client.podSandboxStatus({ podSandboxId: this.id }, this.#signal)
    if (status === undefined) throw new Error('Cannot read the sandbox: no status')
    return status
  }

  /** The status once the container is in a state; a test that waits in vain runs into its timeout. */
  async reach(containerId: string, state: ContainerState): Promise<ContainerStatus> {
    for (;;) {
      const status = await this.containerStatus(containerId)
      if (status.state === state) return status
      await delay(POLL_MS, undefined, { signal: this.#signal })
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#subject.client.removePodSandbox({ podSandboxId: this.id }, this.#signal)
  }
}
