/** The virtual machine as a node of a real cluster, with the packages and files of kubeadm. The control plane runs outside of it: emulated, it would take minutes for each step. */
import { readFileSync } from 'node:fs'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pod } from '../../../src/model/pod/pod.ts'
import type { Guest } from '../../../tools/vm/guest.ts'
import { attemptCommand, runCommand } from '../../../tools/vm/run-command.ts'
import { writeControlPlaneFiles } from '../../control-plane/control-plane-files.ts'
import { ControlPlane } from '../../control-plane/control-plane.ts'
import { freePorts } from '../../control-plane/free-ports.ts'
import { findKubePrograms, KUBE_BIN } from '../../control-plane/kube-programs.ts'
import type { KubePrograms } from '../../control-plane/kube-programs.ts'
import { kubeadmConfig } from '../../fixtures/kubeadm-files.ts'
import { makeTemporaryFolder } from '../../fixtures/make-temporary-folder.ts'
import { buildKubernetesSource, KUBELET_PACKAGE_VERSION } from './kubernetes-packages.ts'
import { PATIENCE_SECONDS } from './machine-facts.ts'
import type { Manifest } from './node-agent.ts'
import { NotApplicable } from './vm-suite.ts'

/** Names the kubelet of kubernetes.io, a program. */
const OTHER_KUBELET = 'OTHER_KUBELET'
const SOURCE = '/opt/kubernetes'
const NODE_NAME = 'machine'
const POLL_MS = 2000
// Processes of containers by the ids of these.
const TASKS = `ctr -n k8s.io tasks ls | awk '$3 == "RUNNING" { print $1, $2 }' | sort`

export class KubeadmMachine implements AsyncDisposable {
  readonly #guest: Guest
  readonly #programs: KubePrograms
  readonly #plane: ControlPlane
  readonly #folder: string

  private constructor(guest: Guest, programs: KubePrograms, plane: ControlPlane, folder: string) {
    this.#guest = guest
    this.#programs = programs
    this.#plane = plane
    this.#folder = folder
  }

  /** The node with the kubelet of kubernetes.io, which runs. */
  static async start(guest: Guest): Promise<KubeadmMachine> {
    const programs = findKubePrograms()
    const kubelet = process.env[OTHER_KUBELET] ?? ''
    if (programs === undefined || kubelet === '') throw new NotApplicable(`set ${KUBE_BIN} and ${OTHER_KUBELET}`)
    const folder = makeTemporaryFolder()
    const [api = 0, etcd = 0, etcdPeer = 0, controllerManager = 0, scheduler = 0] = await freePorts(5)
    const files = await writeControlPlaneFiles({
      pkiFolder: `${folder}/pki`,
      adminKubeconfig: `${folder}/admin.conf`,
      agentKubeconfig: `${folder}/kubelet.conf`,
      folder: `${folder}/control-plane`,
      server: `https://127.0.0.1:${api}`,
      nodeName: NODE_NAME,
    })
    const plane = new ControlPlane({
      programs,
      files,
      folder,
      enter: ['setpriv', '--pdeathsig', 'KILL'],
      ports: { api, etcd, etcdPeer, controllerManager, scheduler },
      hasScheduler: true,
    })
    const machine = new KubeadmMachine(guest, programs, plane, folder)
    try {
      await plane.start()
      await guest.reachBack(api)
      await machine.#writeFiles()
      await machine.#installKubelet(kubelet)
    } catch (error) {
      await plane.kill()
      throw error
    }
    return machine
  }

  /** What kubeadm writes on a node that joins. */
  async #writeFiles(): Promise<void> {
    const config = {
      ...kubeadmConfig,
      // What kubeadm finds on this machine.
      resolvConf: '/etc/resolv.conf',
      failSwapOn: false,
      // Under emulation a runtime may take minutes although nothing is wrong.
      runtimeRequestTimeout: '15m',
      evictionHard: { 'memory.available': '50Mi', 'nodefs.available': '1%', 'imagefs.available': '1%' },
    }
    const read = (name: string) => readFileSync(`${this.#folder}/${name}`, 'utf8')
    const texts = {
      '/etc/kubernetes/pki/ca.crt': read('pki/ca.crt'),
      '/etc/kubernetes/kubelet.conf': read('kubelet.conf'),
      '/var/lib/kubelet/config.yaml': `${JSON.stringify(config)}\n`,
      '/var/lib/kubelet/kubeadm-flags.env': 'KUBELET_KUBEADM_ARGS=""\n',
    }
    for (const [path, text] of Object.entries(texts)) await this.#guest.write(path, text)
  }

  async #installKubelet(kubelet: string): Promise<void> {
    const architecture = await this.#guest.run('dpkg --print-architecture')
    for (const [name, stdin] of buildKubernetesSource(kubelet, architecture, this.#folder))
      await this.#guest.run(`mkdir -p ${SOURCE} && cat > ${SOURCE}/${name}`, { stdin })
    // Nothing else can be reached from there.
    await this.#guest.write('/etc/apt/sources.list', `deb [trusted=yes] file:${SOURCE} ./\n`)
    await this.#guest.write('/etc/apt/apt.conf.d/90unattended', 'APT::Get::Assume-Yes "true";\nDpkg::Use-Pty "0";\n')
    await this.#guest.run(
      `apt-get update && apt-get install kubeadm kubelet=${KUBELET_PACKAGE_VERSION} && apt-mark hold kubelet && systemctl restart kubelet`,
    )
  }

  async kubectl(args: readonly string[], stdin?: string): Promise<string> {
    const settings = ['--kubeconfig', `${this.#folder}/admin.conf`, '--cache-dir', `${this.#folder}/kubectl`]
    const options = stdin === undefined ? {} : { stdin }
    return await runCommand([this.#programs.kubectl, ...settings, ...args], options)
  }

  /** The processes of the containers that run, by the ids of these. */
  async tasks(): Promise<ReadonlyMap<string, string>> {
    const lines = (await this.#guest.run(TASKS)).split('\n').filter((line) => line !== '')
    return new Map(lines.map((line) => [line.split(' ')[0] ?? '', line.split(' ')[1] ?? '']))
  }

  /** Makes a pod under the agent that runs now, and waits until it is ready. */
  async addPod(pod: Manifest): Promise<void> {
    await this.until('the namespace to have its account', async () => {
      await this.kubectl(['apply', '-f', '-'], JSON.stringify(pod))
      return true
    })
    await this.waitUntilReady(pod.metadata.name)
  }

  async waitUntilReady(name: string): Promise<Pod> {
    const read = async () => JSON.parse(await this.kubectl(['get', 'pod', name, '-o', 'json'])) as Pod
    return await this.until(`pod ${name} to be ready`, async () => {
      const pod = await read()
      const isReady = pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True')
      return isReady === true && pod
    })
  }

  async until<T>(what: string, ask: () => Promise<T | false>): Promise<T> {
    const end = Date.now() + PATIENCE_SECONDS * 1000
    for (let failure = ''; ;) {
      const found = await ask().catch((error: unknown) => {
        failure = String(error)
        return false as const
      })
      if (found !== false) return found
      if (Date.now() > end)
        throw new Error(`Not after ${PATIENCE_SECONDS} s: ${what}: ${failure}\n${await this.#describe()}`)
      await sleep(POLL_MS)
    }
  }

  async #describe(): Promise<string> {
    const journal = await this.#guest.attempt('journalctl -u kubelet -n 30 --no-pager')
    const settings = ['--kubeconfig', `${this.#folder}/admin.conf`]
    const pods = await attemptCommand([this.#programs.kubectl, ...settings, 'get', 'nodes,pods', '-A', '-o', 'wide'])
    return `${pods.stdout}${pods.stderr}\n${journal.stdout}`
  }

  /** Ends the pods, and takes everything away that was installed and written. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.#guest.run('rm -f /etc/kubernetes/manifests/*')
      await this.kubectl(['delete', 'pods', '--all', '--wait=false'])
      await this.until('the pods to end', async () => (await this.tasks()).size === 0)
    } finally {
      await this.#plane.kill()
      await this.#guest.run(
        `apt-mark unhold kubelet; apt-get purge kubeadm kubelet; rm -rf ${SOURCE} /etc/apt/sources.list /etc/apt/apt.conf.d/90unattended /etc/kubernetes /etc/default/kubelet /var/lib/kubelet/config.yaml /var/lib/kubelet/kubeadm-flags.env /var/lib/kubelet/*_manager_state; systemctl daemon-reload`,
      )
    }
  }
}
