import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { ProcessResult } from '../../src/system/processes/run-process.ts'
import type { Lab } from '../e2e/lab/start-lab.ts'

const deckhand = fileURLToPath(new URL('../../bin/deckhand', import.meta.url))
const PATIENCE_MS = 180_000
const TRIES = 80
const INTERVAL_MS = 500

// Everything of the node: what has its folder on the command line, and what runs in its pods.
const KILL_ALL = `for p in /proc/[0-9]*; do
  { tr '\\0' ' ' < $p/cmdline; cat $p/cgroup; } 2> /dev/null | grep -q -e "$1" -e "$2" && [ "\${p#/proc/}" != $$ ] && echo "\${p#/proc/}"
done | xargs kill -KILL 2> /dev/null; true`

/** A standalone node from a fresh folder, in namespaces of its own, as a user has it: with kubectl and deckhand. */
export class JobNode {
  /** For files of the user. */
  readonly folder: string
  readonly state: string
  readonly #lab: Lab

  constructor(lab: Lab) {
    this.#lab = lab
    this.folder = `${lab.folder}/user`
    this.state = `${lab.folder}/state`
  }

  /** Starts the node; what it printed. */
  async up(...options: readonly string[]): Promise<string> {
    return await this.deckhand('up', '--detach', '--cgroup-root', this.#cgroup, ...options)
  }

  /** What the command printed; it must succeed. */
  async deckhand(...args: readonly string[]): Promise<string> {
    return expectSuccess(args, await this.tryDeckhand(...args))
  }

  async tryDeckhand(...args: readonly string[]): Promise<ProcessResult> {
    return await this.#run([deckhand, ...args, '--state', this.state])
  }

  /** What kubectl printed; it must succeed. */
  async kubectl(...args: readonly string[]): Promise<string> {
    return expectSuccess(args, await this.tryKubectl(args))
  }

  async tryKubectl(args: readonly string[], stdin?: string): Promise<ProcessResult> {
    const config = [`--kubeconfig=${this.state}/admin.kubeconfig`, '--cache-dir', `${this.folder}/cache`]
    return await this.#run(['kubectl', ...config, ...args], stdin)
  }

  async apply(text: string): Promise<void> {
    const args = ['apply', '-f', '-']
    expectSuccess(args, await this.tryKubectl(args, text))
  }

  /** What kubectl prints once it is as expected. */
  async eventually(args: readonly string[], expected: RegExp): Promise<string> {
    for (let tries = 0; ; tries += 1) {
      const { stdout, stderr } = await this.tryKubectl(args)
      if (expected.test(stdout)) return stdout
      assert.ok(tries < TRIES, `kubectl ${args.join(' ')}: expected ${expected}\n${stdout}${stderr}`)
      await sleep(INTERVAL_MS)
    }
  }

  /** Waits until workloads, such as "deployment/web", run as they are asked for. */
  async rolledOut(...names: readonly string[]): Promise<void> {
    for (const name of names) await this.kubectl('rollout', 'status', name, '--timeout=150s')
  }

  /** A program on the machine of the node; what it printed. */
  async onMachine(...argv: readonly string[]): Promise<string> {
    return expectSuccess(argv, await this.#run(argv))
  }

  async write(path: string, content: string | Uint8Array): Promise<string> {
    const file = `${this.folder}/${path}`
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, content)
    return file
  }

  /** SIGKILL for "up" with its API, the agent, the runtime with its shims, and all containers. */
  async killEverything(): Promise<void> {
    await this.onMachine('sh', '-c', KILL_ALL, 'sh', this.state, this.#cgroup)
  }

  get #cgroup(): string {
    return `${this.#lab.cgroupRoot}/node`
  }

  async #run(argv: readonly string[], stdin?: string): Promise<ProcessResult> {
    return await this.#lab.runInside(argv, { deadlineMs: PATIENCE_MS, ...(stdin === undefined ? {} : { stdin }) })
  }
}

function expectSuccess(args: readonly string[], { exitCode, stdout, stderr }: ProcessResult): string {
  assert.equal(exitCode, 0, `${args.join(' ')}\n${stdout}${stderr}`)
  return stdout
}
