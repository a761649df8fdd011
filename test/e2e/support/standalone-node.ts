import { chmod, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { CriClient } from '../../../src/protocols/cri/cri-client.ts'
import { ContainerState } from '../../../src/protocols/cri/generated/runtime-v1.ts'
import type { Event, Node } from '../../../src/model/generated/core-v1.ts'
import type { ProcessResult } from '../../../src/system/processes/run-process.ts'
import type { Pod } from '../../../src/model/pod/pod.ts'
import type { FileProblem } from '../../../src/standalone/node/file-problems.ts'
import { findKubePrograms } from '../../control-plane/kube-programs.ts'
import { explainPods, listAgentPods } from '../../../src/standalone/node/agent/agent-client.ts'
import { formatExplanation } from '../../../src/standalone/why.ts'
import { startLab } from '../lab/start-lab.ts'
import type { Lab } from '../lab/start-lab.ts'
import { ApiReader } from './api-reader.ts'
import { DeckhandUp } from './deckhand-up.ts'
import type { NodeProcess } from './node-process.ts'
import { createLabRuntime, isReady, parseLogLine } from './test-node.ts'
import { waitFor } from './wait-for.ts'

export const deckhand = fileURLToPath(new URL('../../../bin/deckhand', import.meta.url))
const kubelet = fileURLToPath(new URL('../../../bin/kubelet', import.meta.url))
const LOG_LINES_SHOWN = 30
// Only what never comes should run into it.
const PATIENCE_MS = 60_000
const never = new AbortController().signal

export interface StandaloneOptions {
  /** Arguments of "deckhand up" besides the state folder, the runtime and the cgroup. */
  readonly flags?: readonly string[]
  /** An address that others could reach; without, the machine has its loopback only. */
  readonly hasAddress?: boolean
}

/** The programs of a real control plane for nodes under test; none has one when it is undefined. */
const clusterPrograms = findKubePrograms()

export const isStandalone = clusterPrograms === undefined

/** Why a test is skipped where nodes have a real control plane; false where they are standalone. */
export function notInCluster(why: string): string | false {
  return !isStandalone && `not with a real control plane: ${why}`
}

/**
 * A standalone node in a lab, on the lab's runtime, driven by a real kubectl. Where KUBE_BIN names a real control plane, the node is one of that, with the same
 * folders.
 */
export class StandaloneNode implements AsyncDisposable {
  readonly lab: Lab
  readonly state: string
  readonly #process: NodeProcess
  readonly #api: ApiReader
  readonly #runtime: CriClient
  readonly #agent: { readonly agentSocket: string }

  private constructor(lab: Lab, process: NodeProcess) {
    this.lab = lab
    this.state = stateOf(lab)
    this.#process = process
    this.#api = new ApiReader(lab.network, `${this.state}/admin.kubeconfig`)
    this.#runtime = createLabRuntime(lab)
    this.#agent = { agentSocket: `${this.state}/kubelet/deckhand/agent.sock` }
  }

  static async start(options: StandaloneOptions | ((lab: Lab) => StandaloneOptions) = {}): Promise<StandaloneNode> {
    await using cleanup = new AsyncDisposableStack()
    const lab = cleanup.use(await startLab())
    const { flags = [] } = typeof options === 'function' ? options(lab) : options
    const node = new StandaloneNode(lab, await createProcess(lab, flags))
    if (typeof options !== 'function' && options.hasAddress === true) await addAddress(lab)
    await writeFile(`${lab.folder}/agent`, KEPT_AGENT)
    await chmod(`${lab.folder}/agent`, 0o755)
    cleanup.defer(() => node.#process.leave())
    await node.up()
    cleanup.move()
    return node
  }

  /** Starts "deckhand up", or the control plane, and waits until the node is up. */
  async up(): Promise<void> {
    await this.#process.start()
  }

  /** What this "deckhand up" has said so far. */
  async output(): Promise<string> {
    return await this.#process.output()
  }

  /** Ends "deckhand up", and with it the API; after SIGKILL the agent goes on alone. */
  async endUp(signal: NodeJS.Signals): Promise<void> {
    await this.#process.end(signal)
  }

  /** Runs another command of deckhand on this node. */
  async deckhand(command: string, ...args: readonly string[]): Promise<ProcessResult> {
    return await this.lab.runInside([deckhand, command, ...args, '--state', this.state], { deadlineMs: PATIENCE_MS })
  }

  /** The pid of the agent as the lab counts. */
  async agentPid(): Promise<number> {
    return Number(await readFile(`${this.lab.folder}/agent.pid`, 'utf8'))
  }

  /** SIGKILL. Resolves when the next agent is started; it is not healthy then. */
  async killAgent(): Promise<void> {
    const before = await this.agentPid()
    await this.lab.runInside(['kill', '-KILL', String(before)])
    await this.waitFor('the next agent', async () => (await this.agentPid()) !== before)
  }

  /** Kills the agent; the next ones have these flags beside their own, and this module, if any, loaded before them. */
  async changeAgent({ flags, module }: { readonly flags: readonly string[]; readonly module?: string }): Promise<void> {
    await writeFile(`${this.lab.folder}/agent.flags`, flags.join(' '))
    if (module !== undefined) await writeFile(`${this.lab.folder}/agent.options`, `--import=${module}`)
    await this.killAgent()
  }

  /** The pods that the agent itself knows. */
  async agentPods(): Promise<readonly Pod[]> {
    return (await listAgentPods(this.#agent, never)) as unknown as readonly Pod[]
  }

  /** What "why" would say of a pod, for waits: the command itself takes a process, with a fifth of a second of CPU time. */
  async explained(name: string): Promise<string | undefined> {
    const pod = (await explainPods(this.#agent, never)).pods.find((each) => each.name === name)
    return pod && formatExplanation(pod)
  }

  /** What is wrong with files in the folder of manifests. */
  async refusedManifests(): Promise<readonly FileProblem[]> {
    return (await explainPods(this.#agent, never)).manifests
  }

  async agentLog(): Promise<readonly string[]> {
    return (await readFile(`${this.state}/logs/kubelet.log`, 'utf8')).trimEnd().split('\n')
  }

  /** Runs kubectl to its end, whatever its exit code. */
  async tryKubectl(args: readonly string[], stdin?: string): Promise<ProcessResult> {
    const settings = ['--kubeconfig', `${this.state}/admin.kubeconfig`, '--cache-dir', `${this.lab.folder}/kubectl`]
    return await this.lab.runInside([clusterPrograms?.kubectl ?? 'kubectl', ...settings, ...args], {
      deadlineMs: PATIENCE_MS,
      ...(stdin === undefined ? {} : { stdin }),
    })
  }

  /** What kubectl printed; fails when it fails. */
  async kubectl(...args: readonly string[]): Promise<string> {
    return await this.#kubectl(args)
  }

  async #kubectl(args: readonly string[], stdin?: string): Promise<string> {
    const { exitCode, stdout, stderr } = await this.tryKubectl(args, stdin)
    if (exitCode !== 0) throw new Error(`Cannot run kubectl ${args.join(' ')}: exit code ${exitCode}: ${stderr}`)
    return stdout
  }

  async apply(...objects: readonly object[]): Promise<void> {
    await this.#kubectl(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }))
  }

  /** Creates an object at a path of the API and gives what came of it. */
  async create<T>(path: string, object: object): Promise<T> {
    return JSON.parse(await this.#kubectl(['create', '--raw', path, '-f', '-'], JSON.stringify(object))) as T
  }

  /** Puts an object in the place of the one at a path of the API. */
  async replace(path: string, object: object): Promise<void> {
    await this.#kubectl(['replace', '--raw', path, '-f', '-'], JSON.stringify(object))
  }

  /** Puts a static pod into the folder of manifests at once. */
  async writeManifest(name: string, pod: object): Promise<void> {
    const draft = `${this.lab.folder}/${name}.draft`
    await writeFile(draft, JSON.stringify(pod))
    await rename(draft, `${this.state}/manifests/${name}.json`)
  }

  async removeManifest(name: string): Promise<void> {
    await rm(`${this.state}/manifests/${name}.json`)
  }

  /** What the API answers to a GET; undefined when there is no such thing. */
  async get<T>(path: string): Promise<T | undefined> {
    return await this.#api.get<T>(path)
  }

  /** All pods of the API. */
  async pods(): Promise<readonly Pod[]> {
    return (await this.get<{ readonly items: readonly Pod[] }>('/api/v1/pods'))?.items ?? []
  }

  /** The Node, as soon as the agent has registered: on a busy machine that is after the node is up. */
  async node(): Promise<Node> {
    return await this.waitFor('the Node', async () => {
      return (await this.get<{ readonly items: readonly Node[] }>('/api/v1/nodes'))?.items[0]
    })
  }

  /** The events about an object, by its name. */
  async events(name: string): Promise<readonly Event[]> {
    const selector = encodeURIComponent(`involvedObject.name=${name}`)
    return (
      (await this.get<{ readonly items: readonly Event[] }>(`/api/v1/events?fieldSelector=${selector}`))?.items ?? []
    )
  }

  async waitFor<T>(what: string, ask: () => Promise<T | undefined | false>): Promise<T> {
    const context = async () =>
      [
        (await this.tryKubectl(['get', 'pods', '-A', '-o', 'wide'])).stdout,
        ...(await this.agentLog()).slice(-LOG_LINES_SHOWN),
        await this.output(),
      ].join('\n')
    return await waitFor(what, ask, { ms: PATIENCE_MS, context })
  }

  /** The pod of the API, once it is as wanted. */
  async podIs(name: string, what: string, isWanted: (pod: Pod) => boolean): Promise<Pod> {
    return await this.waitFor(`pod "${name}" to be ${what}`, async () => {
      const pod = await this.get<Pod>(`/api/v1/namespaces/default/pods/${name}`)
      return pod !== undefined && isWanted(pod) && pod
    })
  }

  async ready(name: string): Promise<Pod> {
    return await this.podIs(name, 'ready', isReady)
  }

  async gone(name: string): Promise<void> {
    await this.waitFor(`pod "${name}" to be gone`, async () => {
      return (await this.get(`/api/v1/namespaces/default/pods/${name}`)) === undefined
    })
  }

  /** Ids of the containers of a pod that run, by its UID; of all pods without one. */
  async running(uid?: string): Promise<readonly string[]> {
    const labelSelector: Record<string, string> = uid === undefined ? {} : { 'io.kubernetes.pod.uid': uid }
    const state = { state: ContainerState.CONTAINER_RUNNING }
    const { containers } = await this.#runtime.listContainers({ filter: { labelSelector, state } }, never)
    return containers.map(({ id }) => id)
  }

  /** The labels of a container that runs. */
  async labels(containerId: string): Promise<Readonly<Record<string, string>>> {
    const { status } = await this.#runtime.containerStatus({ containerId, verbose: false }, never)
    return status?.labels ?? {}
  }

  /** Ids of the sandboxes of a pod, by its UID; of all pods without one. */
  async sandboxes(uid?: string): Promise<readonly string[]> {
    const labelSelector: Record<string, string> = uid === undefined ? {} : { 'io.kubernetes.pod.uid': uid }
    const { items } = await this.#runtime.listPodSandbox({ filter: { labelSelector } }, never)
    return items.map(({ id }) => id)
  }

  /** What a program says inside the only container of a pod. */
  async runIn(pod: Pod, ...argv: readonly string[]): Promise<string> {
    const containerId = (pod.status?.containerStatuses?.[0]?.containerID ?? '').replace(/^\w+:\/\//, '')
    const { stdout } = await this.#runtime.execSync({ containerId, cmd: argv, timeout: 10n }, never)
    return Buffer.from(stdout).toString()
  }

  /** The text lines that the only container of a pod wrote. */
  async logLines(pod: Pod, container = 'main'): Promise<readonly string[]> {
    const { namespace, name, uid } = pod.metadata
    const file = `${this.state}/logs/pods/${namespace}_${name}_${uid}/${container}/0.log`
    const text = await readFile(file, 'utf8')
    return text.split('\n').flatMap((line) => (line === '' ? [] : [parseLogLine(line).text]))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#api[Symbol.dispose]()
    this.#runtime.close()
    await this.#process.leave()
    await this.lab[Symbol.asyncDispose]()
  }
}

function stateOf(lab: Lab): string {
  return `${lab.folder}/state`
}

async function createProcess(lab: Lab, flags: readonly string[]): Promise<NodeProcess> {
  const [state, agent] = [stateOf(lab), `${lab.folder}/agent`]
  const argv = [deckhand, 'up', '--state', state, '--runtime', lab.runtime.endpoint]
  const cgroup = ['--cgroup-root', `${lab.cgroupRoot}/node`]
  if (clusterPrograms === undefined) return new DeckhandUp(lab, [...argv, ...cgroup, '--kubelet', agent, ...flags])
  // Loaded only where there is one: it is half of what this file would load.
  const { ClusterNode } = await import('./cluster-node.ts')
  return new ClusterNode(lab, state, agent, clusterPrograms)
}

/** An agent that is started again at once, so that tests can kill it more often than "up" would bear. */
const KEPT_AGENT = `#!/bin/sh
folder=$(dirname "$0")
trap 'kill "$child"; wait "$child"; exit 0' TERM
while :; do
  flags=$(cat "$folder/agent.flags" 2> /dev/null)
  NODE_OPTIONS=$(cat "$folder/agent.options" 2> /dev/null) ${kubelet} "$@" $flags &
  child=$!
  echo "$child" > "$folder/agent.pid.new" && mv "$folder/agent.pid.new" "$folder/agent.pid"
  wait "$child"
done
`

export async function addAddress(lab: Lab): Promise<void> {
  for (const command of [
    'ip link add node0 type veth peer name node1',
    'ip addr add 10.99.0.1/24 dev node0',
    'ip link set node0 up',
    'ip link set node1 up',
    'ip route add default via 10.99.0.254 dev node0',
  ]) {
    const { exitCode, stderr } = await lab.runInside(command.split(' '))
    if (exitCode !== 0) throw new Error(`Cannot give the lab an address: ${stderr}`)
  }
}
