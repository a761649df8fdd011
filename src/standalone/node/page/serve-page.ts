import { randomBytes } from 'node:crypto'
import process from 'node:process'
import { systemClock } from '../../../base/async/clock.ts'
import { TaskGroup } from '../../../base/async/task-group.ts'
import { createLogger } from '../../../base/telemetry/create-logger.ts'
import { runPageServer } from '../../../page/server/run-page-server.ts'
import { openAppendedFile } from '../../../system/files/append-file.ts'
import { readTextIfPresent } from '../../../system/files/state/state-folder.ts'
import { askAgent } from '../agent/agent-client.ts'
import { parseFileProblems } from '../file-problems.ts'
import type { ServedPage } from '../node-deps.ts'
import { openConnection } from '../api/open-client.ts'
import { writePageAccess } from './page-access.ts'

const KEY_BYTES = 32

/** Serves the page of a standalone node, in this process, on loopback. */
export async function servePage(
  own: { readonly random: () => number; readonly assets: string; readonly version: string },
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
      version: own.version,
      agent: {
        ask: (path, s) => askAgent(layout, path, s),
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
