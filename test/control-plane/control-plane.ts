import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { request } from 'node:https'
import process from 'node:process'
import { childPid } from '../e2e/lab/lab-namespaces.ts'
import { waitFor } from '../e2e/support/wait-for.ts'
import { readKubeconfigSecrets } from './control-plane-files.ts'
import type { ControlPlaneFiles } from './control-plane-files.ts'
import type { KubePrograms } from './kube-programs.ts'

export interface ControlPlaneOptions {
  readonly programs: KubePrograms
  readonly files: ControlPlaneFiles
  /** For the data of etcd and the logs. */
  readonly folder: string
  /** Put in front of each program: what runs it in a lab, or ends it with this process. */
  readonly enter: readonly string[]
  readonly ports: ControlPlanePorts
  /** Asks whether the API server is ready; from outside of a lab that takes a way of its own. */
  readonly isReady?: () => Promise<boolean>
  /** Which controllers run; all by default. */
  readonly controllers?: string
  /** More flags of kube-controller-manager. */
  readonly controllerFlags?: Readonly<Record<string, string>>
  readonly hasScheduler: boolean
}

export interface ControlPlanePorts {
  readonly api: number
  readonly etcd: number
  readonly etcdPeer: number
  readonly controllerManager: number
  readonly scheduler: number
}

export const DEFAULT_PORTS: ControlPlanePorts = {
  api: 6443,
  etcd: 2379,
  etcdPeer: 2380,
  controllerManager: 10_257,
  scheduler: 10_259,
}

/** As the standalone API has it, so that tokens and addresses are alike. */
const SERVICE_RANGE = '10.96.0.0/12'
const ISSUER = 'https://kubernetes.default.svc.cluster.local'
const PATIENCE_MS = 120_000
const LOG_LINES_SHOWN = 20

/** etcd, kube-apiserver, kube-controller-manager and kube-scheduler on loopback, as a user brings them. */
export class ControlPlane implements AsyncDisposable {
  readonly #options: ControlPlaneOptions
  #running: ChildProcess[] = []

  constructor(options: ControlPlaneOptions) {
    this.#options = options
  }

  /** Starts all of it, also after kill(), and waits until the API is ready. */
  async start(): Promise<void> {
    const { hasScheduler } = this.#options
    await this.#start('etcd', this.#etcd())
    await this.#start('kube-apiserver', this.#apiServer())
    const context = () => this.log()
    const isOver = async () => this.#running.some(hasEnded) || (await this.#isReady())
    await waitFor('the API server to be ready', isOver, { ms: PATIENCE_MS, context })
    if (this.#running.some(hasEnded)) throw new Error(`Cannot start the control plane:\n${await this.log()}`)
    await this.#start('kube-controller-manager', this.#controllerManager())
    if (hasScheduler) await this.#start('kube-scheduler', this.#scheduler())
  }

  /** Ends all of it; what etcd has stays. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const running = this.#running
    this.#running = []
    for (const child of running.toReversed().filter((each) => !hasEnded(each))) {
      const exit = once(child, 'exit')
      const pid = (await childPid(child.pid ?? 0)) ?? child.pid ?? 0
      // Else it ended by itself meanwhile.
      if (!hasEnded(child)) process.kill(pid, signal)
      await exit
    }
  }

  /** The ends of all logs. */
  async log(): Promise<string> {
    const names = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler']
    const texts = names.map(async (name) => {
      const text = await readFile(this.#logOf(name), 'utf8').catch(() => '')
      return `${name}:\n${text.trimEnd().split('\n').slice(-LOG_LINES_SHOWN).join('\n')}`
    })
    return (await Promise.all(texts)).join('\n')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
  }

  #logOf(name: string): string {
    return `${this.#options.folder}/${name}.log`
  }

  async #start(name: string, argv: readonly string[]): Promise<void> {
    const [program = '', ...args] = [...this.#options.enter, ...argv]
    const log = openSync(this.#logOf(name), 'a')
    const child = spawn(program, args, { stdio: ['ignore', log, log] })
    closeSync(log)
    await once(child, 'spawn')
    this.#running.push(child)
  }

  async #isReady(): Promise<boolean> {
    const { isReady, files, ports } = this.#options
    if (isReady !== undefined) return await isReady()
    const secrets = await readKubeconfigSecrets(files.adminKubeconfig)
    return await new Promise((resolve) => {
      const options = { ...secrets, agent: false }
      const call = request(`https://127.0.0.1:${ports.api}/readyz`, options, (response) => {
        response.resume()
        resolve(response.statusCode === 200)
      })
      call.on('error', () => resolve(false))
      call.end()
    })
  }

  #etcd(): readonly string[] {
    const { programs, folder, ports } = this.#options
    const [client, peer] = [`http://127.0.0.1:${ports.etcd}`, `http://127.0.0.1:${ports.etcdPeer}`]
    return toArguments(programs.etcd, {
      'data-dir': `${folder}/etcd`,
      'listen-client-urls': client,
      'advertise-client-urls': client,
      'listen-peer-urls': peer,
      'initial-advertise-peer-urls': peer,
      'initial-cluster': `default=${peer}`,
      'log-level': 'error',
      // What is lost with a power cut is no loss here, and the disk is slow.
      'unsafe-no-fsync': 'true',
    })
  }

  #apiServer(): readonly string[] {
    const { programs, files, ports } = this.#options
    return toArguments(programs.apiServer, {
      'etcd-servers': `http://127.0.0.1:${ports.etcd}`,
      'bind-address': '127.0.0.1',
      'advertise-address': '127.0.0.1',
      'endpoint-reconciler-type': 'none',
      'secure-port': String(ports.api),
      'tls-cert-file': files.serving.certificate,
      'tls-private-key-file': files.serving.key,
      'client-ca-file': files.authority,
      'authorization-mode': 'Node,RBAC',
      'enable-admission-plugins': 'NodeRestriction',
      'enable-bootstrap-token-auth': 'true',
      'service-cluster-ip-range': SERVICE_RANGE,
      'service-account-issuer': ISSUER,
      'service-account-key-file': files.tokenPublicKey,
      'service-account-signing-key-file': files.tokenKey,
      // Pods get what they ask for: the longer life of their tokens would hide what the agent does at their end.
      'service-account-extend-token-expiration': 'false',
      'kubelet-client-certificate': files.kubeletClient.certificate,
      'kubelet-client-key': files.kubeletClient.key,
      'kubelet-certificate-authority': files.authority,
      'kubelet-preferred-address-types': 'InternalIP,Hostname',
      'allow-privileged': 'true',
    })
  }

  #controllerManager(): readonly string[] {
    const { programs, files, ports, controllers, controllerFlags } = this.#options
    return toArguments(programs.controllerManager, {
      ...clientFlags(files.controllerManagerKubeconfig, ports.controllerManager),
      ...(controllers === undefined ? {} : { controllers }),
      'use-service-account-credentials': 'true',
      'service-account-private-key-file': files.tokenKey,
      'root-ca-file': files.authority,
      'cluster-signing-cert-file': files.authority,
      'cluster-signing-key-file': files.authorityKey,
      ...controllerFlags,
    })
  }

  #scheduler(): readonly string[] {
    const { programs, files, ports } = this.#options
    return toArguments(programs.scheduler, clientFlags(files.schedulerKubeconfig, ports.scheduler))
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

function clientFlags(kubeconfig: string, port: number): Readonly<Record<string, string>> {
  return {
    kubeconfig,
    'authentication-kubeconfig': kubeconfig,
    'authorization-kubeconfig': kubeconfig,
    'bind-address': '127.0.0.1',
    'secure-port': String(port),
    'leader-elect': 'false',
  }
}

function toArguments(program: string, flags: Readonly<Record<string, string>>): readonly string[] {
  return [program, ...Object.entries(flags).map(([name, value]) => `--${name}=${value}`)]
}
