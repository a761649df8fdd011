import { relistAtStart } from '../pods/observe/relist-at-start.ts'
import { findVolumes } from '../pods/volumes/find-volumes.ts'
import type { Stages } from './stages.ts'

type AdoptStages = Pick<Stages, 'base' | 'runtime' | 'devices' | 'pods'>

/** Learns what an earlier agent left: what runs, what is mounted, and what of the machine belongs to which pod. */
export async function adoptRunning({ base, runtime: { observer }, devices, pods }: AdoptStages): Promise<void> {
  const { tasks, log } = base
  await Promise.all([relistAtStart(observer, log), findVolumes({ ...base, volumes: pods.volumes }, tasks.signal)])
  const running = observer.uids().flatMap((uid) => observer.get(uid) ?? [])
  await pods.userNamespaces.adopt(running)
  await devices.placement.adoptRunning(running, tasks.signal)
  devices.plugins.adoptRunning(running)
}
