import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { Clock } from '../../src/base/async/clock.ts'
import { systemClock } from '../../src/base/async/clock.ts'
import { createGuardedFiles } from '../../src/system/guarded/create-guarded-files.ts'
import { silentLogger } from '../../src/base/telemetry/silent-logger.ts'
import { createMountNamespace } from './mount-namespace.ts'

/** A folder and a mount namespace for one test, and GuardedFiles that work in there. */
export async function createGuardedWorld(t: TestContext, clock: Clock = systemClock) {
  const folder = await mkdtemp(join(tmpdir(), 'deckhand-guarded-'))
  const namespace = await createMountNamespace()
  const files = createGuardedFiles({ clock, log: silentLogger, findLauncher: async () => namespace.enter })
  t.after(async () => {
    files[Symbol.dispose]()
    await namespace[Symbol.asyncDispose]()
    await rm(folder, { recursive: true })
  })
  return { folder, namespace, files, signal: t.signal }
}
