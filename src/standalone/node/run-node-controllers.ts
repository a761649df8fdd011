import { randomUUID } from 'node:crypto'
import process from 'node:process'
import { systemClock } from '../../base/async/clock.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { createLogger } from '../../base/telemetry/create-logger.ts'
import { openAppendedFile } from '../../system/files/append-file.ts'
import type { NodeControllers } from './node-deps.ts'
import { openClient } from './open-client.ts'

/** Runs the workload controllers of a standalone node, in this process, as a client of its API. */
export async function runNodeControllers(
  random: () => number,
  { kubeconfig, nodeName, without, logFile }: NodeControllers,
  signal: AbortSignal,
): Promise<void> {
  // Loaded only here: the other commands need not spend the time and memory.
  const { runControllers } = await import('../../controllers/composition/run-controllers.ts')
  using file = openAppendedFile(logFile)
  const log = createLogger({
    format: 'text',
    program: 'controllers',
    verbosity: 2,
    clock: systemClock,
    pid: process.pid,
    write: (line) => file.write(line),
  })
  await using tasks = new TaskGroup(signal)
  const client = await openClient(random, kubeconfig, tasks)
  const deps = { client, nodeName, without, clock: systemClock, random, newUid: randomUUID, log }
  await runControllers(deps, signal)
}
