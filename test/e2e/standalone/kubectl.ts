import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'

export interface KubectlResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

interface RunOptions {
  readonly input?: string
  readonly env?: Readonly<Record<string, string>>
}

/** The kubectl of the machine against an API, with nothing of the user who runs the tests. */
export class Kubectl {
  readonly #environment: Readonly<Record<string, string | undefined>>

  constructor(kubeconfig: string, home: string) {
    this.#environment = { PATH: process.env['PATH'], HOME: home, KUBECONFIG: kubeconfig }
  }

  async run(args: readonly string[], { input = '', env = {} }: RunOptions = {}): Promise<KubectlResult> {
    const child = spawn('kubectl', args, { env: { ...this.#environment, ...env }, timeout: 30_000 })
    child.stdin.on('error', () => {})
    child.stdin.end(input)
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close') as Promise<[number | null]>,
    ])
    return { code, stdout, stderr }
  }

  /** Starts a command that goes on, such as a watch. */
  start(args: readonly string[]): RunningKubectl {
    return new RunningKubectl(spawn('kubectl', args, { env: this.#environment, stdio: ['ignore', 'pipe', 'inherit'] }))
  }
}

/** A command of kubectl that goes on until its block ends. */
export class RunningKubectl implements AsyncDisposable {
  readonly #child: ChildProcess
  #output = ''

  constructor(child: ChildProcess) {
    this.#child = child
    child.stdout?.on('data', (chunk: Buffer) => {
      this.#output += chunk.toString('utf8')
    })
  }

  /** All that it wrote so far, once that is as expected; the test's own time limit ends a wait in vain. */
  async output(expected: RegExp): Promise<string> {
    while (!expected.test(this.#output)) {
      if (this.#child.exitCode !== null) throw new Error(`kubectl ended: ${this.#output}`)
      await sleep(10)
    }
    return this.#output
  }

  /** Waits until it ends by itself. */
  async ended(): Promise<void> {
    if (this.#child.exitCode === null) await once(this.#child, 'close')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null) return
    const closed = once(this.#child, 'close')
    this.#child.kill('SIGKILL')
    await closed
  }
}
