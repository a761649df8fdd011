import { readFile } from 'node:fs/promises'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import type { StartedProcess } from '../../../src/system/processes/start-process.ts'
import { childPid } from '../lab/lab-namespaces.ts'
import type { StandaloneNode } from './standalone-node.ts'
import { testContainer, testPod } from './test-pod.ts'

const program = fileURLToPath(new URL('../../fakes/run-fake-csi-driver.ts', import.meta.url))
const common = { accessModes: ['ReadWriteOnce'], storageClassName: '' }

export const CSI_DRIVER = 'disk.example.com'

/** A driver that needs no attaching, a volume of it, and a claim that gets the volume. */
export const csiObjects: readonly object[] = [
  {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSIDriver',
    metadata: { name: CSI_DRIVER },
    spec: { attachRequired: false, podInfoOnMount: true },
  },
  {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'pv-data' },
    spec: { ...common, capacity: { storage: '1Gi' }, csi: { driver: CSI_DRIVER, volumeHandle: 'vol-data' } },
  },
  {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data', namespace: 'default' },
    spec: { ...common, resources: { requests: { storage: '1Gi' } } },
  },
]

/** A pod that has the claim at /data. */
export function csiPod(name: string) {
  return testPod(name, {
    terminationGracePeriodSeconds: 0,
    automountServiceAccountToken: false,
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
    containers: [testContainer('main', 'sleep 1000', { volumeMounts: [{ name: 'data', mountPath: '/data' }] })],
  })
}

/** A fake CSI driver as a process of a node, which can end and be started again. */
export class CsiDisk {
  readonly #node: StandaloneNode
  readonly #data: string
  #process: StartedProcess | undefined
  #starts = 0

  /** `data` is a folder for the content of volumes. */
  constructor(node: StandaloneNode, data: string) {
    this.#node = node
    this.#data = data
  }

  /** Starts it; it dies in the middle of the first call of this method, if one is given. */
  async start(diesIn?: string): Promise<void> {
    this.#starts += 1
    const socket = `${this.#node.state}/kubelet/plugins_registry/${CSI_DRIVER}.sock`
    const options = { name: CSI_DRIVER, folder: this.#data, capabilities: ['STAGE_UNSTAGE_VOLUME'], diesIn }
    const argv = [process.execPath, program, socket, JSON.stringify(options)]
    this.#process = await this.#node.lab.startInside(argv, this.#log(this.#starts))
    await this.#node.waitFor('the driver to serve', async () => (await this.calls(this.#starts)).includes('ready'))
  }

  /** Resolves when it is dead. */
  async dies(): Promise<void> {
    await this.#process?.exited
    this.#process = undefined
  }

  async end(): Promise<void> {
    if (this.#process === undefined) return
    process.kill((await childPid(this.#process.pid)) ?? 0, 'SIGTERM')
    await this.dies()
  }

  /** The methods that one start of it was asked for. */
  async calls(start: number): Promise<readonly string[]> {
    const text = await readFile(this.#log(start), 'utf8').catch(() => '')
    const lines = text.split('\n').filter((line) => line.endsWith('}'))
    return lines.map((line) => (JSON.parse(line) as { readonly method: string }).method)
  }

  #log(start: number): string {
    return `${this.#node.lab.folder}/driver-${start}.log`
  }
}
