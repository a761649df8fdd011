import { spawn } from 'node:child_process'
import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { childPid } from '../lab/lab-namespaces.ts'
import type { StandaloneNode } from './standalone-node.ts'

export interface KubectlProcessOptions {
  /** Names in place of the arguments a shell command in a terminal, in which "$KUBECTL" is kubectl; its output goes to this file too. */
  readonly terminal?: string
  readonly environment?: Readonly<Record<string, string>>
}

/** A kubectl inside a lab whose input and output are the test's, for as long as its block. */
export class KubectlProcess implements AsyncDisposable {
  readonly #child: ChildProcessWithoutNullStreams
  readonly #closed: Promise<unknown>
  #stdout: Buffer[] = []
  #stderr = ''

  constructor(node: StandaloneNode, args: readonly string[], options: KubectlProcessOptions = {}) {
    const kubectl = toCommand(node)
    const { terminal, environment = {} } = options
    const argv = terminal === undefined ? [...kubectl, ...args] : ['script', '-qefc', args.join(' '), terminal]
    const [file = '', ...rest] = [...node.lab.enter, ...argv]
    const env = {
      PATH: process.env['PATH'],
      TERM: 'xterm',
      SHELL: '/bin/sh',
      KUBECTL: kubectl.join(' '),
      ...environment,
    }
    this.#child = spawn(file, rest, { env })
    this.#child.stdin.on('error', () => {})
    this.#child.stdout.on('data', (chunk: Buffer) => this.#stdout.push(chunk))
    this.#child.stderr.on('data', (chunk: Buffer) => (this.#stderr += chunk.toString()))
    this.#closed = once(this.#child, 'close')
  }

  write(input: string): void {
    this.#child.stdin.write(input)
  }

  /** Ends its input with these last bytes, and waits for its own end. */
  async end(input: Uint8Array | string = ''): Promise<{ code: number | null; stdout: Buffer; stderr: string }> {
    this.#child.stdin.end(input)
    await this.#closed
    return { code: this.#child.exitCode, stdout: Buffer.concat(this.#stdout), stderr: this.#stderr }
  }

  /** All that it wrote so far, once that is as expected; the test's own time limit ends a wait in vain. */
  async output(expected: RegExp): Promise<string> {
    for (;;) {
      const text = Buffer.concat(this.#stdout).toString()
      if (expected.test(text)) return text
      if (this.#child.exitCode !== null) throw new Error(`kubectl ended: ${text}${this.#stderr}`)
      await sleep(10)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null) {
      // What was entered the lab for is a child of what we started.
      const pid = await childPid(this.#child.pid ?? 0)
      if (pid !== undefined) process.kill(pid, 'SIGKILL')
      else this.#child.kill('SIGKILL')
    }
    await this.#closed
  }
}

function toCommand({ state, lab }: StandaloneNode): readonly string[] {
  return ['kubectl', '--kubeconfig', `${state}/admin.kubeconfig`, '--cache-dir', `${lab.folder}/kubectl`]
}
