import { existsSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import type { StartedProcess } from '../../src/system/processes/start-process.ts'
import { writeControlPlaneFiles } from '../control-plane/control-plane-files.ts'
import { ControlPlane, DEFAULT_PORTS } from '../control-plane/control-plane.ts'
import type { KubePrograms } from '../control-plane/kube-programs.ts'
import { createAgentConfig, defaultPorts } from '../e2e/lab/agent-config.ts'
import { childPid } from '../e2e/lab/lab-namespaces.ts'
import type { Lab } from '../e2e/lab/start-lab.ts'
import { waitFor } from '../e2e/support/wait-for.ts'
import { KUBEADM_DROP_IN, kubeadmConfig } from '../fixtures/kubeadm-files.ts'
import { computeUnitCommand } from './unit-command.ts'

const NODE_NAME = 'lab-machine'
const PATIENCE_MS = 60_000

/** A node of a real control plane with the files that kubeadm writes, below a folder of the lab. */
export class KubeadmNode {
  readonly #lab: Lab
  readonly #programs: KubePrograms
  #plane: ControlPlane | undefined
  #agent: StartedProcess | undefined

  constructor(lab: Lab, programs: KubePrograms) {
    this.#lab = lab
    this.#programs = programs
  }

  /** Where a path of the machine is in the lab. */
  path(path: string): string {
    return join(this.#lab.folder, 'machine', path)
  }

  async start(): Promise<void> {
    const folders = [
      '/etc/kubernetes/manifests',
      '/etc/kubernetes/pki',
      '/etc/default',
      '/var/lib/kubelet',
      '/control-plane',
    ]
    for (const folder of folders) await mkdir(this.path(folder), { recursive: true })
    const files = await writeControlPlaneFiles({
      pkiFolder: this.path('/etc/kubernetes/pki'),
      adminKubeconfig: this.path('/etc/kubernetes/admin.conf'),
      agentKubeconfig: this.path('/etc/kubernetes/kubelet.conf'),
      folder: this.path('/control-plane'),
      server: `https://127.0.0.1:${DEFAULT_PORTS.api}`,
      nodeName: NODE_NAME,
    })
    await this.#writeSettings()
    this.#plane = new ControlPlane({
      programs: this.#programs,
      files,
      folder: this.path('/control-plane'),
      enter: this.#lab.enter,
      ports: DEFAULT_PORTS,
      hasScheduler: true,
      isReady: async () => (await this.kubectl(['get', '--raw', '/readyz'])).exitCode === 0,
    })
    await this.#plane.start()
  }

  async #writeSettings(): Promise<void> {
    const { folder, runtime, cgroupRoot } = this.#lab
    const manifests = this.path('/etc/kubernetes/manifests')
    const { endpoint } = runtime
    const lab = createAgentConfig({ folder, manifests, endpoint, cgroupRoot, ports: defaultPorts })
    const config = {
      ...kubeadmConfig,
      ...lab,
      readOnlyPort: 0,
      authentication: {
        anonymous: { enabled: false },
        webhook: { enabled: true, cacheTTL: '0s' },
        x509: { clientCAFile: this.path('/etc/kubernetes/pki/ca.crt') },
      },
      authorization: kubeadmConfig.authorization,
    }
    const root = this.path('/var/lib/kubelet')
    await writeFile(`${root}/config.yaml`, JSON.stringify(config))
    await writeFile(`${root}/kubeadm-flags.env`, `KUBELET_KUBEADM_ARGS="--hostname-override=${NODE_NAME}"\n`)
    const extra = [`--root-dir=${root}`, `--cert-dir=${root}/pki`]
    await writeFile(this.path('/etc/default/kubelet'), `KUBELET_EXTRA_ARGS=${extra.join(' ')}\n`)
  }

  /** Starts a kubelet as its unit with kubeadm's drop-in does, and waits until the node is Ready by it. */
  async startAgent(program: string, unit: string): Promise<void> {
    const read = (path: string) => (existsSync(this.path(path)) ? readFileSync(this.path(path), 'utf8') : undefined)
    const command = computeUnitCommand([unit, KUBEADM_DROP_IN], read).slice(1)
    const argv = command.map((word) =>
      word.replace(/(?<==)\/(?:etc|var\/lib\/kubelet)(?=\/)/, (path) => this.path(path)),
    )
    const log = this.path('/kubelet.log')
    this.#agent = await this.#lab.startInside([program, ...argv], log)
    const context = async () => `${argv.join(' ')}\n${readFileSync(log, 'utf8').split('\n').slice(-30).join('\n')}`
    await waitFor('the agent to be healthy', () => this.#isHealthy(), { ms: PATIENCE_MS, context })
  }

  async #isHealthy(): Promise<boolean> {
    const health = await this.#lab.network
      .get(`http://127.0.0.1:${defaultPorts.healthz}/healthz`)
      .catch(() => undefined)
    const ready = await this.kubectl([
      'get',
      'node',
      NODE_NAME,
      '-o',
      'jsonpath={.status.conditions[?(@.type=="Ready")].status}{.spec.taints}',
    ])
    return health?.status === 200 && ready.stdout.trim() === 'True'
  }

  /** As systemd stops it. */
  async stopAgent(): Promise<void> {
    const agent = this.#agent
    if (agent === undefined) return
    this.#agent = undefined
    const pid = await childPid(agent.pid)
    // Else it ended by itself.
    if (pid !== undefined) process.kill(pid, 'SIGTERM')
    await agent.exited
  }

  async leave(): Promise<void> {
    await this.stopAgent()
    await this.#plane?.kill()
  }

  async kubectl(args: readonly string[], stdin?: string) {
    const settings = [
      '--kubeconfig',
      this.path('/etc/kubernetes/admin.conf'),
      '--cache-dir',
      `${this.#lab.folder}/kubectl`,
    ]
    return await this.#lab.runInside(
      [this.#programs.kubectl, ...settings, ...args],
      stdin === undefined ? {} : { stdin },
    )
  }
}
