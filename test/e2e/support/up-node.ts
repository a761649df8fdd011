import assert from 'node:assert/strict'
import { readFile, rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { ProcessResult } from '../../../src/system/processes/run-process.ts'
import type { StartedProcess } from '../../../src/system/processes/start-process.ts'
import { labOciRuntime } from '../lab/oci-runtime.ts'
import type { Lab } from '../lab/start-lab.ts'

const deckhand = fileURLToPath(new URL('../../../bin/deckhand', import.meta.url))

/** "deckhand up" with a containerd of its own, in the namespaces of a lab; the lab's is not used. */
export class UpNode {
  readonly state: string
  readonly #lab: Lab

  constructor(lab: Lab) {
    this.#lab = lab
    this.state = `${lab.folder}/state`
  }

  /** Starts "up" and waits until it says that the node is up. */
  async up(): Promise<{ process: StartedProcess; output: () => Promise<string> }> {
    const log = `${this.#lab.folder}/up.log`
    await rm(log, { force: true })
    const place = ['--state', this.state, '--cgroup-root', `${this.#lab.cgroupRoot}/node`]
    const argv = [deckhand, 'up', ...place, '--oci-runtime', labOciRuntime()]
    const process = await this.#lab.startInside(argv, log)
    const output = () => readFile(log, 'utf8')
    let hasEnded = false
    void process.exited.then(() => (hasEnded = true))
    // A start takes seconds; on a machine with ten times the work that it has CPUs for it takes ten times as long.
    for (let tries = 0; !(await output()).includes('stop all'); tries += 1) {
      assert.ok(!hasEnded && tries < 3000, await output())
      await sleep(20)
    }
    return { process, output }
  }

  run(command: string, ...args: string[]): Promise<ProcessResult> {
    return this.#lab.runInside([deckhand, command, '--state', this.state, ...args])
  }

  /** The processes of the containers' programs, as the lab counts them. */
  async containers(): Promise<string> {
    return (await this.#lab.runInside(['pgrep', '-f', 'httpd -f -p 8080'])).stdout
  }
}
