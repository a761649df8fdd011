import type { Clock } from '../base/async/clock.ts'
import type { NodeDevices } from './create-devices.ts'
import type { createPods } from './create-pods.ts'
import { findVolumes } from '../pods/volumes/find-volumes.ts'
import type { Observer } from '../pods/observe/observer.ts'
import type { Logger } from '../base/telemetry/logger.ts'

export interface FindRunningDeps {
  readonly pods: Pick<Awaited<ReturnType<typeof createPods>>, 'volumes' | 'userNamespaces' | 'placement'>
  readonly observer: Observer
  readonly devices: Pick<NodeDevices, 'find'>
  readonly rootDirectory: string
  readonly clock: Clock
  readonly log: Logger
}

/** Learns what an earlier agent left: what runs, what is mounted, and what of the machine belongs to whom. */
export async function findRunning(deps: FindRunningDeps, signal: AbortSignal): Promise<void> {
  const { pods, observer, devices, log } = deps
  await Promise.all([survey(observer, log), findVolumes({ ...deps, volumes: pods.volumes }, signal)])
  const running = observer.uids().flatMap((uid) => observer.get(uid) ?? [])
  await pods.userNamespaces.adopt(running)
  await pods.placement.find(running, signal)
  devices.find(running)
}

/** The first look. A pod that cannot be read keeps nobody else waiting: its worker asks again before it does anything. */
async function survey(observer: Observer, log: Logger): Promise<void> {
  try {
    await observer.relist()
  } catch (error) {
    if (!(error instanceof AggregateError)) throw error
    log.warn('cannot read some pods of the runtime, going on without', { error })
  }
}
