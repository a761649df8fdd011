import { randomUUID } from 'node:crypto'
import process from 'node:process'
import { systemClock } from '../../../base/async/clock.ts'
import { TaskGroup } from '../../../base/async/task-group.ts'
import { createLogger } from '../../../base/telemetry/create-logger.ts'
import { createSupervisor } from '../../../base/telemetry/create-supervisor.ts'
import type { KubeClient } from '../../../protocols/kube-api/kube-client.ts'
import { openAppendedFile } from '../../../system/files/append-file.ts'

export interface NodeSchedulerDeps {
  readonly client: KubeClient
  readonly nodeName: string
  /** The log of the API, which it shares. */
  readonly logFile: string
  readonly random: () => number
}

/** Schedules the pods of a standalone node until the signal aborts. What fails in it is logged and done again: pods go on without it. */
export async function runNodeScheduler(deps: NodeSchedulerDeps, signal: AbortSignal): Promise<void> {
  const { runScheduler } = await import('../../../controllers/scheduler/run-scheduler.ts')
  const { SCHEDULER_NAME } = await import('../../../controllers/scheduler/compute-schedule.ts')
  const { createEventRecorder } = await import('../../../protocols/kube-api/events/create-event-recorder.ts')
  const { client, nodeName, random } = deps
  using file = openAppendedFile(deps.logFile)
  const log = createLogger({
    format: 'text',
    program: 'scheduler',
    verbosity: 2,
    clock: systemClock,
    pid: process.pid,
    write: (line) => file.write(line),
  })
  const base = { client, nodeName, clock: systemClock, random, log }
  const recorder = createEventRecorder({ ...base, component: SCHEDULER_NAME, newUid: randomUUID })
  const supervisor = createSupervisor({ ...base, metrics: { loopFailed() {}, taskFailed() {} } })
  await using group = new TaskGroup(signal, supervisor)
  group.runLoop('events', (s) => recorder.run(s))
  group.runLoop('scheduler', (s) => runScheduler({ ...base, events: recorder.podEvents }, s))
  await group.join()
}
