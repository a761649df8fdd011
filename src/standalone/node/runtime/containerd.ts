import { connect } from 'node:net'
import { BackOff } from '../../../base/async/back-off.ts'
import type { Clock } from '../../../base/async/clock.ts'
import { runProcess } from '../../../system/processes/run-process.ts'
import { startProcess } from '../../../system/processes/start-process.ts'
import type { StartedProcess } from '../../../system/processes/start-process.ts'
import { listFolder, readTextIfPresent, removeTree } from '../../../system/files/files-and-folders.ts'
import { createConflist } from './cni.ts'
import type { BridgeNetwork } from './cni.ts'
import { createContainerdConfig, parseContainerdRelease } from './containerd-config.ts'
import type { ContainerdOptions, ContainerdPaths, ContainerdRelease, Snapshotter } from './containerd-config.ts'
import { findProcess, rememberProcess, stopProcess, UnnotedError } from '../known-process.ts'
import type { KnownProcess } from '../known-process.ts'
import { PAUSE_IMAGE } from '../../images/node-images.ts'
import { makeFolder, writeFileDurably } from '../../../system/files/state/durable-file.ts'

/** A private containerd: where it is, and how to get to the namespaces that it lives in. */
export interface PrivateContainerd {
  readonly paths: ContainerdPaths
  /** What stands before every command line, such as "nsenter" with its arguments; empty for our own namespaces. */
  readonly enter: readonly string[]
}

// As long as the agent waits for its runtime.
const START_DEADLINE_MS = 120_000
const STOP_GRACE_MS = 5000
// Also where the program is read from a slow disk for the first time, or emulated.
const PROGRAM_MS = 60_000
const WAITS = { firstMs: 5, longestMs: 200, factor: 1.2 }
// Every later containerd reads its configuration too.
const OLDEST_RELEASE: ContainerdRelease = { major: 1, minor: 6 }
// Where containerd keeps what its CRI plugin runs.
const CRI_NAMESPACE = 'k8s.io'

/** What the caller decides of a private containerd's configuration. */
export interface ContainerdChoices extends Partial<Pick<ContainerdOptions, 'ociRuntime' | 'handlers'>> {
  readonly network: Omit<BridgeNetwork, 'leaseFolder'>
}

/** Writes all that containerd reads at its start: its configuration and the pod network. */
export async function configureContainerd(
  clock: Clock,
  containerd: PrivateContainerd,
  { network, ociRuntime = 'runc', handlers = ['runc'] }: ContainerdChoices,
  signal: AbortSignal,
): Promise<void> {
  const { paths } = containerd
  await makeFolder(paths.folder, 0o711)
  await makeFolder(paths.registries)
  const [snapshotter, release] = await Promise.all([
    findSnapshotter(clock, containerd, signal),
    readRelease(clock, containerd, signal),
  ])
  const options = { release, sandboxImage: PAUSE_IMAGE, snapshotter, ociRuntime, handlers }
  await writeFileDurably(paths.config, createContainerdConfig(paths, options))
  await configureNetwork(paths, network)
}

/** Writes the pod network, which containerd reads again whenever it changes; returns whether it did. */
export async function configureNetwork(
  paths: ContainerdPaths,
  network: ContainerdChoices['network'],
): Promise<boolean> {
  const conflist = createConflist({ ...network, leaseFolder: paths.cniLeases })
  if ((await readTextIfPresent(conflistFile(paths))) === conflist) return false
  await writeFileDurably(conflistFile(paths), conflist)
  return true
}

/** True when configureContainerd() was done before. */
export async function isConfigured(paths: ContainerdPaths): Promise<boolean> {
  const files = [paths.config, conflistFile(paths)].map((file) => readTextIfPresent(file))
  return (await Promise.all(files)).every((text) => text !== undefined)
}

function conflistFile(paths: ContainerdPaths): string {
  return `${paths.cniConfig}/10-deckhand.conflist`
}

/** Starts containerd and waits until it answers; it stays when we leave, and findContainerd() finds it again. */
export async function startContainerd(
  clock: Clock,
  { paths, enter }: PrivateContainerd,
  signal: AbortSignal,
): Promise<StartedProcess> {
  // One that runs and does not answer would hold the locks of the next.
  await stopContainerd(clock, paths, signal)
  // What a killed one left behind would answer a connect with "refused" all the same, but it must not appear alive.
  await removeTree(paths.socket)
  const argv = [...enter, ...containerdCommand(paths)]
  const started = await startProcess({ argv, logFile: paths.log })
  try {
    await rememberProcess(paths.identity, started.pid, paths.log).catch(passUnnoted)
    await waitForAnswer(clock, paths, started, signal)
  } catch (error) {
    // Not to be held up by what ended the wait.
    await stopContainerd(clock, paths, new AbortController().signal)
    throw error
  }
  return started
}

/** A full disk is no reason to go without a runtime: its command line is found all the same. */
function passUnnoted(error: unknown): void {
  if (!(error instanceof UnnotedError)) throw error
}

async function waitForAnswer(
  clock: Clock,
  paths: ContainerdPaths,
  started: StartedProcess,
  signal: AbortSignal,
): Promise<void> {
  let ended = false
  void started.exited.then(() => (ended = true)) // Never rejects.
  const end = clock.monotonic() + START_DEADLINE_MS
  const waits = new BackOff(WAITS)
  while (!(await canConnect(paths.socket))) {
    if (ended) throw new Error(`Cannot start containerd: it ended at once, see "${paths.log}"`)
    if (clock.monotonic() >= end) {
      throw new Error(`Cannot start containerd: no answer after ${START_DEADLINE_MS} ms, see "${paths.log}"`)
    }
    await clock.sleep(waits.next(), signal)
  }
}

/** How other commands find the containerd of these paths. */
export function knownContainerd(paths: ContainerdPaths): KnownProcess {
  return { file: paths.identity, command: containerdCommand(paths) }
}

function containerdCommand(paths: ContainerdPaths): readonly string[] {
  return ['containerd', '--config', paths.config]
}

/** The pid of the containerd of these paths, when it runs and answers. */
export async function findContainerd(paths: ContainerdPaths): Promise<number | undefined> {
  const identity = await findProcess(knownContainerd(paths))
  return identity !== undefined && (await canConnect(paths.socket)) ? identity.pid : undefined
}

/** True when containers may run without their containerd, or sandboxes are left that only it can remove. */
export async function hasPodsLeft({ state, root }: ContainerdPaths): Promise<boolean> {
  const tasks = `${state}/io.containerd.runtime.v2.task/${CRI_NAMESPACE}`
  const sandboxes = `${root}/io.containerd.grpc.v1.cri/sandboxes`
  return (await listFolder(tasks)).length + (await listFolder(sandboxes)).length > 0
}

/** Stops containerd; containers go on without it. True when one ran. */
export async function stopContainerd(clock: Clock, paths: ContainerdPaths, signal: AbortSignal): Promise<boolean> {
  return await stopProcess(clock, { ...knownContainerd(paths), graceMs: STOP_GRACE_MS }, signal)
}

/** True when a process listens on the unix socket. */
export function canConnect(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

/** What the configuration is written for. */
async function readRelease(
  clock: Clock,
  { enter }: PrivateContainerd,
  signal: AbortSignal,
): Promise<ContainerdRelease> {
  const { stdout } = await runProcess(
    clock,
    { argv: [...enter, 'containerd', '--version'], deadlineMs: PROGRAM_MS },
    signal,
  )
  return parseContainerdRelease(stdout) ?? OLDEST_RELEASE
}

/** Overlay mounts do not work on every file system (not on overlay itself, for one): copying always does. */
async function findSnapshotter(
  clock: Clock,
  { paths, enter }: PrivateContainerd,
  signal: AbortSignal,
): Promise<Snapshotter> {
  const trial = `${paths.folder}/overlay-trial`
  const folder = (name: string) => `${trial}/${name}`
  for (const name of ['lower', 'upper', 'work', 'merged']) await makeFolder(folder(name))
  const options = `lowerdir=${folder('lower')},upperdir=${folder('upper')},workdir=${folder('work')}`
  const run = (...argv: string[]) => runProcess(clock, { argv: [...enter, ...argv], deadlineMs: PROGRAM_MS }, signal)
  const { exitCode } = await run('mount', '-t', 'overlay', 'overlay', '-o', options, folder('merged'))
  if (exitCode === 0) await run('umount', folder('merged'))
  await removeTree(trial)
  return exitCode === 0 ? 'overlayfs' : 'native'
}
