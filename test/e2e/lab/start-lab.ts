import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { systemClock } from '../../../src/base/async/clock.ts'
import { runProcess } from '../../../src/system/processes/run-process.ts'
import type { ProcessResult } from '../../../src/system/processes/run-process.ts'
import { startProcess } from '../../../src/system/processes/start-process.ts'
import type { StartedProcess } from '../../../src/system/processes/start-process.ts'
import { containerdPaths } from '../../../src/standalone/node/runtime/containerd-config.ts'
import { canConnect, configureContainerd, startContainerd } from '../../../src/standalone/node/runtime/containerd.ts'
import type { PrivateContainerd } from '../../../src/standalone/node/runtime/containerd.ts'
import { importNodeImages } from '../../../src/standalone/images/import-images.ts'
import { createAgentConfig } from './agent-config.ts'
import { copyImageStore, IMAGE_STORE } from './image-store.ts'
import { startAgent } from './lab-agent.ts'
import type { AgentOptions, AgentSite, LabAgent } from './lab-agent.ts'
import { LabContainerd } from './lab-containerd.ts'
import type { LabTask } from './lab-containerd.ts'
import { LabDocker } from './lab-docker.ts'
import { labRuntimeKind } from './lab-runtime.ts'
import { LabManifests } from './lab-manifests.ts'
import { enterArguments, outerPid } from './lab-namespaces.ts'
import { LabNetwork } from './lab-network.ts'
import { labOciRuntime } from './oci-runtime.ts'
import { SECOND_HANDLER } from './second-handler.ts'

// The usual one for what a test makes and for all that runs in a lab: containers of other users must get to their files.
process.umask(0o022)

/** A node's surroundings for one test: own namespaces, cgroup, containerd, pod network and folders; gone with its block. */
export interface Lab extends AsyncDisposable {
  /** Holds everything; in the same place inside and outside. */
  readonly folder: string
  /** The cgroupRoot of the lab's pods. */
  readonly cgroupRoot: string
  /** The container runtime of its agents: containerd, or Docker where LAB_RUNTIME says so. */
  readonly runtime: LabRuntime
  /** Fails in a lab with Docker. */
  readonly containerd: LabContainerd
  /** Fails in a lab with containerd. */
  readonly docker: LabDocker
  readonly manifests: LabManifests
  readonly network: LabNetwork
  /** Put in front of a program to run it inside. */
  readonly enter: readonly string[]
  /** Runs a program to its end, whatever its exit code. */
  runInside(argv: readonly string[], options?: { deadlineMs?: number; stdin?: string }): Promise<ProcessResult>
  /** Starts a program that goes on until it ends or the lab does. The pid is that of nsenter, see childPid(). */
  startInside(argv: readonly string[], logFile: string): Promise<StartedProcess>
  /** The pid as we see it of a pid inside, such as that of a task. */
  outerPid(inside: number): Promise<number | undefined>
  startAgent(options?: AgentOptions): Promise<LabAgent>
}

/** What labs have in common of their runtimes. */
export interface LabRuntime {
  /** As container ids of pods begin. */
  readonly name: 'containerd' | 'docker'
  readonly socket: string
  /** Of containerd, or of the one below Docker. */
  readonly containerdSocket: string
  /** As containerRuntimeEndpoint wants it. */
  readonly endpoint: string
  log(): Promise<string>
  /** What runs, or ran and was not removed, with pids as the lab counts them. */
  tasks(): Promise<readonly LabTask[]>
  /** The pid of the daemon as we see it. */
  pid(): Promise<number>
  /** SIGKILL; containers go on under their shims. */
  kill9(): Promise<void>
  /** Starts it again. */
  start(): Promise<void>
  restart(): Promise<void>
}

/** Makes a lab with the containerd, or the Docker, that is first on PATH. It disappears with its block, and also when this process dies. */
export async function startLab(kind = labRuntimeKind()): Promise<Lab> {
  const folder = await mkdtemp(join(tmpdir(), 'deckhand-lab-'))
  // Pods with users of their own have to get to their files below it, as below the folders of a normal host.
  await chmod(folder, 0o711)
  const cgroupRoot = `/deckhand-lab-${randomBytes(4).toString('hex')}`
  await using cleanup = new AsyncDisposableStack()
  const { init, keeper } = await startKeeper(folder, cgroupRoot)
  cleanup.defer(() => stopKeeper(keeper))
  const enter = enterArguments(init)
  const manifests = new LabManifests(`${folder}/manifests`, folder)
  await mkdir(manifests.folder)
  const startRuntime = kind === 'docker' ? startDocker : startLabContainerd
  const [network, runtime] = await Promise.all([startForwarder(folder, enter), startRuntime(folder, enter)])
  cleanup.use(network)
  const site: AgentSite = {
    folder,
    enter,
    network,
    createConfig: (ports) => {
      const { endpoint } = runtime
      return createAgentConfig({ folder, manifests: manifests.folder, endpoint, cgroupRoot, ports })
    },
  }
  const owned = cleanup.move()
  return {
    folder,
    cgroupRoot,
    runtime,
    get containerd() {
      if (runtime instanceof LabContainerd) return runtime
      throw new Error('Cannot ask for containerd: this lab has Docker')
    },
    get docker() {
      if (runtime instanceof LabDocker) return runtime
      throw new Error('Cannot ask for Docker: this lab has containerd')
    },
    manifests,
    network,
    enter,
    runInside: (argv, { deadlineMs = 30_000, ...options } = {}) => {
      return runProcess(systemClock, { argv: [...enter, ...argv], deadlineMs, ...options }, never)
    },
    startInside: (argv, logFile) => startProcess({ argv: [...enter, ...argv], logFile }),
    outerPid: (inside) => outerPid(init, inside),
    startAgent: (options) => startAgent(site, options),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

const never = new AbortController().signal
const keeperScript = fileURLToPath(new URL('lab-keeper.ts', import.meta.url))
const forwarderScript = fileURLToPath(new URL('lab-forwarder.ts', import.meta.url))

async function startKeeper(folder: string, cgroup: string): Promise<{ init: number; keeper: ChildProcess }> {
  const keeper = spawn(process.execPath, [keeperScript, folder, cgroup], {
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  for await (const line of createInterface({ input: keeper.stdout })) {
    const pid = /^ready (\d+)$/.exec(line)?.[1]
    if (pid !== undefined) return { init: Number(pid), keeper }
  }
  throw new Error('Cannot start a lab: its keeper ended, see above')
}

async function stopKeeper(keeper: ChildProcess): Promise<void> {
  if (keeper.exitCode !== null || keeper.signalCode !== null) throw new Error('A lab ended before its time: see above')
  keeper.stdin?.end()
  const [code] = (await once(keeper, 'exit')) as [number | null]
  if (code !== 0) throw new Error(`Cannot take the lab down: exit code ${code}, see above`)
}

async function startForwarder(folder: string, enter: readonly string[]): Promise<LabNetwork> {
  const socket = `${folder}/network.sock`
  const argv = [...enter, process.execPath, forwarderScript, socket]
  const { exited } = await startProcess({ argv, logFile: `${folder}/forwarder.log` })
  let ended = false
  void exited.then(() => (ended = true))
  while (!(await canConnect(socket))) {
    if (ended) throw new Error(`Cannot start the lab's forwarder: see "${folder}/forwarder.log"`)
    await sleep(5)
  }
  return new LabNetwork(socket)
}

async function startDocker(folder: string, enter: readonly string[]): Promise<LabRuntime> {
  const docker = new LabDocker(`${folder}/docker`, enter)
  await docker.start()
  await docker.loadImages()
  return docker
}

async function startLabContainerd(folder: string, enter: readonly string[]): Promise<LabRuntime> {
  const containerd: PrivateContainerd = { paths: containerdPaths(`${folder}/containerd`), enter }
  const network = { name: 'lab', bridge: 'lab0', subnet: '10.88.0.0/16', masquerade: false }
  const handlers = ['runc', SECOND_HANDLER] as const
  await configureContainerd(systemClock, containerd, { network, handlers, ociRuntime: labOciRuntime() }, never)
  const store = process.env[IMAGE_STORE]
  if (store !== undefined) await copyImageStore(store, containerd.paths.root)
  const started = await startContainerd(systemClock, containerd, never)
  if (store === undefined) await importNodeImages(systemClock, containerd, never)
  return new LabContainerd(containerd, started)
}
