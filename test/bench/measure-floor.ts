import { mkdir } from 'node:fs/promises'
import type { CriClient } from '../../src/protocols/cri/cri-client.ts'
import type { Pod } from '../../src/model/pod/pod.ts'
import { createLabRuntime } from '../e2e/support/test-node.ts'
import type { Bench } from './scenario.ts'
import { now, waitFor } from './wait.ts'
import { createWorkload, WorkloadLogs } from './workload.ts'

/** What the runtime alone takes for a pod: no agent can be faster. */
export class Floor implements Disposable {
  readonly #bench: Bench
  readonly #client: CriClient
  readonly #logs: string

  constructor(bench: Bench) {
    this.#bench = bench
    this.#logs = `${bench.lab.folder}/floor-logs`
    this.#client = createLabRuntime(bench.lab)
  }

  /** Seconds from the first call to the workload's first instruction. */
  async measure(name: string): Promise<number> {
    const { lab, signal } = this.#bench
    const logDirectory = `${this.#logs}/${name}`
    await mkdir(`${logDirectory}/main`, { recursive: true })
    const [container] = (createWorkload(name) as Pod).spec.containers
    const sandboxConfig = {
      metadata: { name, namespace: 'default', uid: name },
      hostname: name,
      logDirectory,
      linux: { cgroupParent: `${lab.cgroupRoot}/kubepods/besteffort/pod${name}` },
    }
    const config = {
      metadata: { name: 'main' },
      image: { image: container?.image ?? '' },
      command: [...(container?.command ?? [])],
      logPath: 'main/0.log',
      linux: {},
    }
    const from = now()
    const { podSandboxId } = await this.#client.runPodSandbox({ config: sandboxConfig }, signal)
    const { containerId } = await this.#client.createContainer({ podSandboxId, config, sandboxConfig }, signal)
    await this.#client.startContainer({ containerId }, signal)
    const logs = new WorkloadLogs(this.#logs)
    const often = { pollMs: 2, deadlineMs: 60_000, signal }
    const started = await waitFor(`the start of ${name}`, () => logs.time(name, 0, 'started'), often)
    await this.#client.stopPodSandbox({ podSandboxId }, signal)
    await this.#client.removePodSandbox({ podSandboxId }, signal)
    return (started - from) / 1000
  }

  [Symbol.dispose](): void {
    this.#client.close()
  }
}
