import { readdir, readFile } from 'node:fs/promises'
import { BUSYBOX_IMAGE } from '../../src/standalone/images/node-images.ts'

// The workload's own clock: it prints when it runs its first instruction and when SIGTERM reaches it, in microseconds.
const script = [
  "trap 'echo term $EPOCHREALTIME; exit 0' TERM",
  'echo started $EPOCHREALTIME',
  'while :; do sleep 1000 & wait $!; done',
].join('\n')

/** A pod that logs when it started and when it was asked to stop. */
export function createWorkload(name: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
    spec: {
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      containers: [{ name: 'main', image: BUSYBOX_IMAGE, imagePullPolicy: 'Never', command: ['sh', '-c', script] }],
    },
  }
}

/** What the workloads of a lab wrote, found in the pods' log folders without asking the agent. */
export class WorkloadLogs {
  readonly #folder: string

  constructor(podLogs: string) {
    this.#folder = podLogs
  }

  /** Names of the pods' folders: "<namespace>_<name>_<uid>". */
  async pods(): Promise<readonly string[]> {
    return await readdir(this.#folder).catch(() => [])
  }

  /** When the pod's main container, restarted so many times, did a thing; ms since the epoch, undefined while it did not. */
  async time(pod: string, restarts: number, what: 'started' | 'term'): Promise<number | undefined> {
    const text = await readFile(`${this.#folder}/${pod}/main/${restarts}.log`, 'utf8').catch(() => '')
    const seconds = new RegExp(`(?: F |"log":")${what} ([\\d.]+)`).exec(text)?.[1]
    return seconds === undefined ? undefined : Number(seconds) * 1000
  }

  /** The folder of the newest pod that a manifest's name led to. */
  async find(name: string, nodeName: string): Promise<string | undefined> {
    return (await this.pods()).find((pod) => pod.startsWith(`default_${name}-${nodeName}_`))
  }
}
