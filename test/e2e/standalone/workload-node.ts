import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Lab } from '../lab/start-lab.ts'

const deckhand = fileURLToPath(new URL('../../../bin/deckhand', import.meta.url))

/** A standalone node with its workloads, and kubectl on it. */
export class WorkloadNode {
  readonly #lab: Lab
  readonly #state: string
  #starts = 0

  constructor(lab: Lab) {
    this.#lab = lab
    this.#state = `${lab.folder}/state`
  }

  /** Until the node is up; returns what it said. */
  async up(...options: readonly string[]): Promise<string> {
    this.#starts += 1
    const log = `${this.#lab.folder}/up-${this.#starts}.log`
    const { name, endpoint } = this.#lab.runtime
    const place = ['--state', this.#state, '--cgroup-root', `${this.#lab.cgroupRoot}/node`]
    // A containerd of its own, or the Docker of the lab.
    const runtime = name === 'docker' ? ['--runtime', endpoint] : []
    const argv = [deckhand, 'up', ...place, ...runtime, ...options]
    await this.#lab.startInside(argv, log)
    for (let tries = 0; ; tries += 1) {
      const said = await readFile(log, 'utf8')
      if (said.includes('stop all')) return said
      assert.ok(tries < 3000, said)
      await sleep(20)
    }
  }

  async down(): Promise<void> {
    const { exitCode, stderr } = await this.#lab.runInside([deckhand, 'down', '--state', this.#state], {
      deadlineMs: 60_000,
    })
    assert.equal(exitCode, 0, stderr)
  }

  /** Runs another command of deckhand on this node, whatever its exit code. */
  async deckhand(command: string, ...args: readonly string[]) {
    return await this.#lab.runInside([deckhand, command, '--state', this.#state, ...args])
  }

  async write(name: string, text: string): Promise<string> {
    const path = `${this.#lab.folder}/${name}`
    await this.#lab.runInside(['sh', '-c', 'printf %s "$1" > "$2"', 'sh', text, path])
    return path
  }

  /** The names in a folder of the node's state. */
  async listState(folder: string): Promise<readonly string[]> {
    return await readdir(`${this.#state}/${folder}`)
  }

  async kubectl(...args: readonly string[]): Promise<string> {
    const { exitCode, stdout, stderr } = await this.tryKubectl(...args)
    assert.equal(exitCode, 0, `kubectl ${args.join(' ')}: ${stderr}`)
    return stdout
  }

  tryKubectl(...args: readonly string[]) {
    const config = `--kubeconfig=${this.#state}/admin.kubeconfig`
    return this.#lab.runInside(['kubectl', config, '--cache-dir', `${this.#lab.folder}/cache`, ...args])
  }
}
