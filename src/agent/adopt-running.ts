import type { Observer } from '../pods/observe/observer.ts'
import { findVolumes } from '../pods/volumes/find-volumes.ts'
import type { Logger } from '../base/telemetry/logger.ts'
import type { Stages } from './stages.ts'

/** Learns what an earlier agent left: what runs, what is mounted, and what of the machine belongs to which pod. */
export async function adoptRunning({
  base,
  runtime,
  devices,
  pods,
}: Pick<Stages, 'base' | 'runtime' | 'devices' | 'pods'>): Promise<void> {
  const { tasks, log } = base
  const { observer } = runtime
  await Promise.all([listRunning(observer, log), findVolumes({ ...base, volumes: pods.volumes }, tasks.signal)])
  const running = observer.uids().flatMap((uid) => observer.get(uid) ?? [])
  await pods.userNamespaces.adopt(running)
  await devices.placement.adoptRunning(running, tasks.signal)
  devices.plugins.adoptRunning(running)
}

// With a runtime that is well, a pod is read in milliseconds. Pods whose calls hang are few, and must not hold up the start.
const PATIENCE_MS = 2000

/** A pod that cannot be read holds up no other: its worker asks again before it does anything. */
async function listRunning(observer: Observer, log: Logger): Promise<void> {
  try {
    await observer.relist(PATIENCE_MS)
  } catch (error) {
    if (!(error instanceof AggregateError)) throw error
    log.warn('cannot read some pods of the runtime, going on without', { error })
  }
}
