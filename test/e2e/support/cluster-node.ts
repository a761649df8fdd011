import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import process from 'node:process'
import { createAgentConfig } from '../../../src/standalone/node/agent/agent-config.ts'
import { agentFlags } from '../../../src/standalone/node/agent/agent-process.ts'
import { computeNodeLayout } from '../../../src/standalone/node/node-layout.ts'
import type { NodeRecord } from '../../../src/standalone/node/node-record.ts'
import { makeCgroup } from '../../../src/system/cgroups/cgroup-tree.ts'
import type { StartedProcess } from '../../../src/system/processes/start-process.ts'
import { writeControlPlaneFiles } from '../../control-plane/control-plane-files.ts'
import { ControlPlane, DEFAULT_PORTS } from '../../control-plane/control-plane.ts'
import type { KubePrograms } from '../../control-plane/kube-programs.ts'
import { childPid } from '../lab/lab-namespaces.ts'
import type { Lab } from '../lab/start-lab.ts'
import { runApprover } from './approve-certificates.ts'
import type { NodeProcess } from './node-process.ts'
import { waitFor } from './wait-for.ts'

const SERVER = `https://127.0.0.1:${DEFAULT_PORTS.api}`
/** As the host name of labs. */
const NODE_NAME = 'lab-machine'
const PATIENCE_MS = 120_000
// What a node of a cluster has otherwise than a standalone one: all of the API is one hop away, and others do what they do in clusters.
const CLUSTER_SETTINGS = {
  // The API server reaches the kubelet by its name.
  address: '0.0.0.0',
  enableControllerAttachDetach: true,
  // Labs may have no address but loopback.
  featureGates: { RotateKubeletServerCertificate: true, AllowDNSOnlyNodeCSR: true },
}

/** A node of a real control plane in a lab, with the folders of a standalone one. */
export class ClusterNode implements NodeProcess {
  readonly #lab: Lab
  readonly #state: string
  readonly #kubelet: string
  readonly #programs: KubePrograms
  readonly #settings: Readonly<Record<string, unknown>>
  readonly #ended = new AbortController()
  #plane: ControlPlane | undefined
  #agent: StartedProcess | undefined
  #approver: Promise<void> | undefined

  /** `kubelet` is the path of the agent to run; `settings` are fields of its configuration. */
  constructor(
    lab: Lab,
    state: string,
    kubelet: string,
    programs: KubePrograms,
    settings: Readonly<Record<string, unknown>> = {},
  ) {
    this.#lab = lab
    this.#state = state
    this.#kubelet = kubelet
    this.#programs = programs
    this.#settings = settings
  }

  async start(): Promise<void> {
    this.#plane ??= await this.#prepare()
    await this.#plane.start()
    await this.#createGrants()
    this.#approver ??= runApprover((args, stdin) => this.#kubectl(args, stdin), this.#ended.signal)
    this.#agent ??= await this.#startAgent()
    await this.#waitUntilReady()
  }

  /** Ends the control plane; the agent goes on. */
  async end(signal: NodeJS.Signals): Promise<void> {
    if (signal === 'SIGTERM')
      throw new Error('Cannot end the agent with the control plane: they are apart in a cluster')
    await this.#plane?.kill(signal)
  }

  /** The pid of the agent as we see it. */
  async agentPid(): Promise<number> {
    const pid = this.#agent?.pid
    if (pid === undefined) throw new Error('Cannot find the agent: it is not started')
    return (await childPid(pid)) ?? pid
  }

  async output(): Promise<string> {
    const agent = await readFile(`${this.#state}/logs/wrapper.log`, 'utf8').catch(() => '')
    return `${(await this.#plane?.log()) ?? ''}\n${agent}`
  }

  /** The control plane leaves before the lab does, so that nothing complains about its end. */
  async leave(): Promise<void> {
    this.#ended.abort(new Error('The lab ends'))
    await this.#approver?.catch(() => {})
    if (this.#agent !== undefined) process.kill((await childPid(this.#agent.pid)) ?? this.#agent.pid, 'SIGTERM')
    await this.#agent?.exited
    await this.#plane?.kill()
  }

  async #prepare(): Promise<ControlPlane> {
    const layout = computeNodeLayout(this.#state)
    const record: NodeRecord = {
      nodeName: NODE_NAME,
      cgroupRoot: `${this.#lab.cgroupRoot}/node`,
      manifests: layout.manifests,
      runtime: this.#lab.runtime.endpoint,
      ports: { kubernetes: DEFAULT_PORTS.api, agent: 10_250, healthz: 10_248 },
    }
    const folders = [layout.manifests, layout.settings, layout.agentRoot, layout.podLogs, dirname(layout.apiLog)]
    for (const folder of folders) await mkdir(folder, { recursive: true })
    makeCgroup(record.cgroupRoot)
    const config = JSON.parse(createAgentConfig(layout, record)) as object
    await writeFile(layout.agentConfig, JSON.stringify({ ...config, ...CLUSTER_SETTINGS, ...this.#settings }))
    await writeFile(layout.record, JSON.stringify(record))
    const folder = `${this.#state}/control-plane`
    const files = await writeControlPlaneFiles({
      pkiFolder: `${layout.api}/pki`,
      adminKubeconfig: layout.adminKubeconfig,
      agentKubeconfig: layout.agentKubeconfig,
      folder,
      server: SERVER,
      nodeName: NODE_NAME,
    })
    return new ControlPlane({
      programs: this.#programs,
      files,
      folder,
      enter: this.#lab.enter,
      ports: DEFAULT_PORTS,
      hasScheduler: true,
      isReady: async () => (await this.#kubectl(['get', '--raw', '/readyz'])).exitCode === 0,
    })
  }

  async #startAgent(): Promise<StartedProcess> {
    const flags = agentFlags({ layout: computeNodeLayout(this.#state), nodeName: NODE_NAME })
    // As "deckhand up" does, all that it says goes to one file.
    return await this.#lab.startInside([this.#kubelet, ...flags], `${this.#state}/logs/kubelet.log`)
  }

  /** What installers of clusters grant to nodes: to ask for their first certificate, and to renew it. */
  async #createGrants(): Promise<void> {
    const grants = [
      ['system:bootstrappers', 'system:node-bootstrapper'],
      ['system:nodes', 'system:certificates.k8s.io:certificatesigningrequests:selfnodeclient'],
    ] as const
    const apiGroup = 'rbac.authorization.k8s.io'
    const items = grants.map(([group, role]) => ({
      apiVersion: `${apiGroup}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: `lab:${group.replace('system:', '')}` },
      roleRef: { apiGroup, kind: 'ClusterRole', name: role },
      subjects: [{ apiGroup, kind: 'Group', name: group }],
    }))
    await waitFor('the grants of nodes', async () => {
      const { exitCode } = await this.#kubectl(
        ['apply', '-f', '-'],
        JSON.stringify({ apiVersion: 'v1', kind: 'List', items }),
      )
      return exitCode === 0
    })
  }

  /** Pods can be made and run. */
  async #waitUntilReady(): Promise<void> {
    const jsonPath = 'jsonpath={.status.conditions[?(@.type=="Ready")].status}{.spec.taints}'
    const isReady = async () => {
      const node = await this.#kubectl(['get', 'node', NODE_NAME, '-o', jsonPath])
      const account = await this.#kubectl(['get', 'serviceaccount', 'default'])
      return node.stdout.trim() === 'True' && account.exitCode === 0
    }
    const context = () => this.output()
    await waitFor('the node of the cluster to be ready', isReady, { ms: PATIENCE_MS, pollMs: 500, context })
  }

  async #kubectl(args: readonly string[], stdin?: string) {
    const settings = ['--kubeconfig', `${this.#state}/admin.kubeconfig`, '--cache-dir', `${this.#lab.folder}/kubectl`]
    return await this.#lab.runInside(
      [this.#programs.kubectl, ...settings, ...args],
      stdin === undefined ? {} : { stdin },
    )
  }
}
