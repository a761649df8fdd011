import { connect } from 'node:net'
import { once } from 'node:events'
import { CriCallError } from '../../cri/cri-call-error.ts'
import type { CriRequest, CriResponse } from '../../cri/cri-methods.ts'
import { SANDBOX_TYPE } from '../create/docker-labels.ts'
import type { DockerDeps } from '../docker-deps.ts'
import type { TerminalSize } from '../streaming/parse-sizes.ts'
import type { DockerStreamServer } from '../streaming/docker-stream-server.ts'
import { createExec, readExitCode, requireRunning, startExec } from './exec-calls.ts'
import { inspect } from './inspect.ts'

/** The streams go on when the call is answered; they end with their connections. */
const never = () => new AbortController().signal

/** Offers a command in a container to the client that comes for it. */
export async function exec(
  deps: DockerDeps,
  server: DockerStreamServer,
  { containerId, cmd, stdin, stdout, stderr, tty }: CriRequest<'exec'>,
  signal: AbortSignal,
): Promise<CriResponse<'exec'>> {
  const { api } = deps
  const container = await requireRunning(api, 'exec', containerId, signal)
  const streams = { stdin, stdout, stderr: stderr && !tty, tty }
  const open = async () => {
    const execId = await createExec(api, container.Id, { cmd, streams }, never())
    return {
      socket: await startExec(api, execId, tty, never()),
      tty,
      resize: (size: TerminalSize) => resize(deps, `/exec/${execId}/resize`, size),
      exitCode: () => readExitCode(deps, execId, never()),
    }
  }
  return { url: await server.offer({ kind: 'command', streams, open }) }
}

/** Offers the streams of the process that a container runs anyway. */
export async function attach(
  deps: DockerDeps,
  server: DockerStreamServer,
  { containerId, stdin, stdout, stderr }: CriRequest<'attach'>,
  signal: AbortSignal,
): Promise<CriResponse<'attach'>> {
  const { api } = deps
  const container = await requireRunning(api, 'attach', containerId, signal)
  const tty = container.Config.Tty === true
  const streams = { stdin: stdin && container.Config.OpenStdin === true, stdout, stderr: stderr && !tty, tty }
  const flag = (on: boolean) => (on ? '1' : '0')
  const query = {
    stream: '1',
    stdin: flag(streams.stdin),
    stdout: flag(stdout),
    stderr: flag(streams.stderr),
  }
  const open = async () => ({
    socket: await api.upgrade({ method: 'POST', path: `/containers/${container.Id}/attach`, query }, never()),
    tty,
    resize: (size: TerminalSize) => resize(deps, `/containers/${container.Id}/resize`, size),
    exitCode: async () => undefined,
  })
  // The client opens a stream for its input all the same.
  return { url: await server.offer({ kind: 'command', streams: { ...streams, stdin }, open }) }
}

async function resize({ api }: DockerDeps, path: string, { width, height }: TerminalSize): Promise<void> {
  await api.json({ method: 'POST', path, query: { h: String(height), w: String(width) } }, never())
}

/** Offers connections to ports inside a pod. */
export async function portForward(
  { api, files }: DockerDeps,
  server: DockerStreamServer,
  { podSandboxId, port: ports }: CriRequest<'portForward'>,
  signal: AbortSignal,
): Promise<CriResponse<'portForward'>> {
  const sandbox = await inspect(api, podSandboxId, SANDBOX_TYPE, signal)
  if (sandbox?.State.Running !== true)
    throw new CriCallError('portForward', 'NotFound', `sandbox container "${podSandboxId}" is not running`)
  const { Id: id, State: state, HostConfig: host } = sandbox
  const open = async () => (host.NetworkMode === 'host' ? ownLoopback : await files.openDialer(state.Pid, id))
  return { url: await server.offer({ kind: 'ports', ports, open }) }
}

/** The loopback of a pod in the node's own network. */
const ownLoopback = {
  dial: async (port: number) => {
    const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
    await once(socket, 'connect')
    return socket
  },
  [Symbol.dispose]() {},
}
