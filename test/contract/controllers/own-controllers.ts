import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../../src/base/async/clock.ts'
import { TaskGroup } from '../../../src/base/async/task-group.ts'
import { silentLogger } from '../../../src/base/telemetry/silent-logger.ts'
import { runControllers } from '../../../src/controllers/composition/run-controllers.ts'
import { openClient } from '../../../src/standalone/node/api/open-client.ts'
import { startApiServer } from '../../component/api-server/start-secured-api.ts'
import type { ControlledApi } from './run-behaviour.ts'

const MEMORY = '/dev/shm'

/** Our API server with our controllers. */
export async function startOwnControllers(): Promise<ControlledApi> {
  // In memory: each write waits for the disk otherwise, and the disk is not what is compared.
  const folder = mkdtempSync(join(existsSync(MEMORY) ? MEMORY : tmpdir(), 'deckhand-controllers-'))
  const server = await startApiServer(folder, 0, { hasScheduler: true })
  const over = new AbortController()
  const tasks = new TaskGroup(over.signal)
  const kubeconfig = join(folder, 'admin.kubeconfig')
  const client = await openClient(Math.random, kubeconfig, tasks)
  const volumes = join(folder, 'volumes')
  mkdirSync(volumes)
  const folders = {
    root: volumes,
    make: async (name: string) => {
      mkdirSync(join(volumes, name), { recursive: true })
    },
    remove: async (name: string) => rmSync(join(volumes, name), { recursive: true }),
    list: async () => readdirSync(volumes),
  }
  // As the real ones are started: a DaemonSet and the eviction would both delete its pod.
  const without = ['taints']
  const deps = { client, nodeName: 'node-1', without, folders, clock: systemClock, random: Math.random }
  const running = runControllers({ ...deps, newUid: randomUUID, log: silentLogger }, over.signal).catch(
    (error: unknown) => {
      if (!over.signal.aborted) throw error
    },
  )
  return {
    kubeconfig,
    // Events are sent one after the other; on a busy machine that takes a while.
    quietMs: 2500,
    atOnce: 8,
    async [Symbol.asyncDispose]() {
      over.abort(new Error('over'))
      await running
      await tasks[Symbol.asyncDispose]().catch(() => {})
      await server.stop()
      rmSync(folder, { recursive: true })
    },
  }
}
