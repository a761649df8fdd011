import process from 'node:process'
import { randomBytes } from 'node:crypto'
import { systemClock } from '../../../base/async/clock.ts'
import { TaskGroup } from '../../../base/async/task-group.ts'
import { createLogger } from '../../../base/telemetry/create-logger.ts'
import { runPageServer } from '../../../page/server/run-page-server.ts'
import { openAppendedFile } from '../../../system/files/append-file.ts'
import { readTextIfPresent } from '../../../system/files/files-and-folders.ts'
import { parseFileProblems } from '../file-problems.ts'
import { runProcess } from '../../../system/processes/run-process.ts'
import type { ServedPage } from '../node-deps.ts'
import type { NodeLayout } from '../node-layout.ts'
import { openClient, openConnection } from '../api/open-client.ts'
import { writePageAccess } from './page-access.ts'
import type { KubeClient } from '../../../protocols/kube-api/kube-client.ts'
import type { NodeAgent } from '../../../page/server/page-agent.ts'
import { createProxiedAgent } from '../../../page/server/proxied-agent.ts'
import { AgentAnswerError, askAgent } from '../agent/agent-client.ts'
import { hasCode } from '../../../system/files/error-codes.ts'

export interface PageProgram {
  readonly random: () => number
  readonly assets: string
  readonly version: string
  /** Starts "deckhand". */
  readonly ownCommand: string
}

const KEY_BYTES = 32
const PULL_MS = 30 * 60_000
const MOST_OUTPUT_BYTES = 64 * 1024

/** Serves the page of a standalone node, in this process, on loopback. */
export async function servePage(
  own: PageProgram,
  { port, layout, nodeName, onReady }: ServedPage,
  signal: AbortSignal,
): Promise<void> {
  await using connections = new TaskGroup(signal)
  using file = openAppendedFile(layout.apiLog)
  const log = createLogger({
    format: 'text',
    program: 'page',
    verbosity: 2,
    clock: systemClock,
    pid: process.pid,
    write: (line) => file.write(line),
  })
  const key = randomBytes(KEY_BYTES).toString('base64url')
  await runPageServer(
    {
      port,
      key,
      assets: own.assets,
      nodeName,
      isOneOfMany: false,
      version: own.version,
      agent: {
        ask: createAsk(layout, nodeName, () => openClient(own.random, layout.adminKubeconfig, connections)),
        pullImage: (image, s) => pullImage(own.ownCommand, layout, image, s),
        readProblems: async () => parseFileProblems(await readTextIfPresent(layout.appliedProblems)),
      },
      // The page can do what the file allows, and nothing else.
      connect: (identity) =>
        openConnection(
          own.random,
          identity === 'reader' ? layout.readerKubeconfig : layout.adminKubeconfig,
          connections,
        ),
      clock: systemClock,
      random: own.random,
      log,
      onListening: async (bound) => {
        await writePageAccess(layout, { port: bound, key })
        onReady()
      },
    },
    signal,
  )
}

/** In a process of its own: what speaks to the runtime costs memory that the page needs at no other time. */
async function pullImage(command: string, { state }: NodeLayout, image: string, signal: AbortSignal): Promise<void> {
  const argv = [command, 'images', 'pull', '--state', state, image]
  const request = { argv, deadlineMs: PULL_MS, maxOutputBytes: MOST_OUTPUT_BYTES }
  const { exitCode, stderr } = await runProcess(systemClock, request, signal)
  if (exitCode !== 0) throw new Error(stderr.trim().replace(/^deckhand: /, '') || `the pull ended with ${exitCode}`)
}

/** Asks the agent of the node over its socket, or over the API where another kubelet runs, which has no such socket. */
function createAsk(
  layout: Pick<NodeLayout, 'agentSocket'>,
  nodeName: string,
  openClient: () => Promise<KubeClient>,
): NodeAgent['ask'] {
  let proxied: Promise<NodeAgent> | undefined
  return async (path, signal) => {
    try {
      return await askAgent(layout, path, signal)
    } catch (error) {
      if (error instanceof AgentAnswerError && error.status === 404) return undefined
      if (!hasCode(error, 'ENOENT')) throw error
    }
    proxied ??= openClient().then((client) => createProxiedAgent(client, nodeName))
    // What failed once is tried again.
    proxied.catch(() => (proxied = undefined))
    return await (await proxied).ask(path, signal)
  }
}
