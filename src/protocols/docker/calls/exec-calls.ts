import type { Duplex } from 'node:stream'
import { AbortScope } from '../../../base/async/abort-scope.ts'
import { CriCallError } from '../../cri/cri-call-error.ts'
import type { CriRequest, CriResponse } from '../../cri/cri-methods.ts'
import { readChunks } from '../../streams/read-chunks.ts'
import type { DockerApi } from '../api/docker-api.ts'
import { DockerError } from '../api/docker-error.ts'
import { DockerFrames } from '../api/docker-frames.ts'
import type { InspectedContainer } from '../api/docker-types.ts'
import type { DockerDeps } from '../docker-deps.ts'
import { stateOf } from '../read/to-container.ts'
import { stateName } from './container-calls.ts'
import { requireContainer } from './inspect.ts'

/** Which streams a command has. */
export interface ExecStreams {
  readonly stdin: boolean
  readonly stdout: boolean
  readonly stderr: boolean
  readonly tty: boolean
}

const LARGEST_OUTPUT = 16 * 1024 * 1024
const EXIT_PAUSE_MS = 20
const EXIT_TRIES = 250

/** Runs a command in a container to its end. At its time limit it is killed, which Docker itself cannot do. */
export async function execSync(
  deps: DockerDeps,
  { containerId, cmd, timeout }: CriRequest<'execSync'>,
  signal: AbortSignal,
): Promise<CriResponse<'execSync'>> {
  const { api, clock } = deps
  const streams = { stdin: false, stdout: true, stderr: true, tty: false }
  const execId = await createExec(api, containerId, { cmd, streams }, signal).catch(async (error: unknown) => {
    // What is wrong is asked for only then: probes run often.
    if (error instanceof DockerError) await requireRunning(api, 'execSync', containerId, signal)
    throw error
  })
  using scope = new AbortScope(signal)
  const late = new CriCallError(
    'execSync',
    'DeadlineExceeded',
    `failed to exec in container: timeout ${timeout}s exceeded: context deadline exceeded`,
  )
  if (timeout > 0n) {
    clock.sleep(Number(timeout) * 1000, scope.signal).then(
      () => scope.abort(late),
      () => {},
    )
  }
  try {
    const socket = await startExec(api, execId, false, scope.signal)
    const outputs = await collect(socket, scope.signal)
    return { ...outputs, exitCode: await readExitCode(deps, execId, scope.signal) }
  } catch (error) {
    if (scope.signal.aborted) {
      await endExec(deps, { execId, containerId }).catch((failure: unknown) =>
        deps.log.debug('cannot end a command in a container', { containerId, error: failure }),
      )
      throw scope.signal.reason
    }
    throw error
  }
}

/** A container that runs now; Docker would start a command in no other, but says so less clearly. */
export async function requireRunning(
  api: DockerApi,
  method: string,
  containerId: string,
  signal: AbortSignal,
): Promise<InspectedContainer> {
  const container = await requireContainer(api, method, containerId, signal)
  if (container.State.Running) return container
  const detail = `failed to exec in container: container is in ${stateName(stateOf(container))} state`
  throw new CriCallError(method, 'Unknown', detail)
}

/** Prepares a command; it runs from startExec() on. */
export async function createExec(
  api: DockerApi,
  containerId: string,
  { cmd, streams }: { readonly cmd: readonly string[]; readonly streams: ExecStreams },
  signal: AbortSignal,
): Promise<string> {
  const { stdin, stdout, stderr, tty } = streams
  const body = { Cmd: cmd, AttachStdin: stdin, AttachStdout: stdout, AttachStderr: stderr, Tty: tty }
  const path = `/containers/${containerId}/exec`
  const { Id: id } = await api.json<{ readonly Id: string }>({ method: 'POST', path, body }, signal)
  return id
}

export async function startExec(api: DockerApi, execId: string, tty: boolean, signal: AbortSignal): Promise<Duplex> {
  const body = { Detach: false, Tty: tty }
  return await api.upgrade({ method: 'POST', path: `/exec/${execId}/start`, body }, signal)
}

interface InspectedExec {
  readonly Running: boolean
  readonly ExitCode: number | null
  readonly Pid: number
}

async function inspectExec(api: DockerApi, execId: string, signal: AbortSignal): Promise<InspectedExec> {
  return await api.json({ method: 'GET', path: `/exec/${execId}/json` }, signal)
}

/** The output of a command may end a moment before Docker knows how it ended, or long before where it closed its outputs itself. */
export async function readExitCode({ api, clock }: DockerDeps, execId: string, signal: AbortSignal): Promise<number> {
  for (let tries = 0; ; tries += 1) {
    const { Running: running, ExitCode: exitCode } = await inspectExec(api, execId, signal)
    if (!running && exitCode !== null) return exitCode
    await clock.sleep(tries < EXIT_TRIES ? EXIT_PAUSE_MS : EXIT_PAUSE_MS * 50, signal)
  }
}

/** Kills what Docker has no way to stop. Not held up by what ended the wait. */
async function endExec(
  { api, files, clock }: DockerDeps,
  { execId, containerId }: { readonly execId: string; readonly containerId: string },
): Promise<void> {
  using scope = new AbortScope(new AbortController().signal)
  clock.sleep(5000, scope.signal).then(
    () => scope.abort(new Error('Docker does not say which process the command is')),
    () => {},
  )
  const { Running: running, Pid: pid } = await inspectExec(api, execId, scope.signal)
  if (running && pid > 0) await files.killInContainer(pid, containerId)
}

async function collect(socket: Duplex, signal: AbortSignal): Promise<{ stdout: Uint8Array; stderr: Uint8Array }> {
  const outputs = { stdout: [] as Buffer[], stderr: [] as Buffer[] }
  const left = { stdout: LARGEST_OUTPUT, stderr: LARGEST_OUTPUT }
  const frames = new DockerFrames()
  const abort = () => socket.destroy()
  signal.addEventListener('abort', abort, { once: true })
  try {
    for await (const chunk of readChunks(socket)) {
      for (const { stream, bytes } of frames.push(chunk)) {
        const kept = bytes.subarray(0, left[stream])
        left[stream] -= kept.length
        if (kept.length > 0) outputs[stream].push(Buffer.from(kept))
      }
    }
  } finally {
    signal.removeEventListener('abort', abort)
    socket.destroy()
  }
  return {
    stdout: new Uint8Array(Buffer.concat(outputs.stdout)),
    stderr: new Uint8Array(Buffer.concat(outputs.stderr)),
  }
}
