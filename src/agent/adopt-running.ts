import type { Observer } from '../pods/observe/observer.ts'
import { findVolumes } from '../pods/volumes/find-volumes.ts'
import type { Logger } from '../base/telemetry/logger.ts'
import type { Base } from './open-base.ts'
import type { Devices } from './open-devices.ts'
import type { Pods } from './open-pods.ts'
import type { Runtime } from './open-runtime.ts'

interface Stages {
  readonly base: Base
  readonly runtime: Pick<Runtime, 'observer'>
  readonly devices: Devices
  readonly pods: Pods
}

/** Learns what an earlier agent left: what runs, what is mounted, and what of the machine belongs to which pod. */
export async function adoptRunning({ base, runtime: { observer }, devices, pods }: Stages): Promise<void> {
  const { tasks, log } = base
  await Promise.all([listRunning(observer, log), findVolumes({ ...base, volumes: pods.volumes }, tasks.signal)])
  const running = observer.uids().flatMap((uid) => observer.get(uid) ?? [])
  await pods.userNamespaces.adopt(running)
  await devices.placement.find(running, tasks.signal)
  devices.plugins.find(running)
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
