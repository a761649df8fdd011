import type { StatsSnapshot } from '../stats-snapshot.ts'

/** What the logs of each container took in the last snapshot; nothing when that did not measure disks. */
export function listLogUsages(snapshot: StatsSnapshot | undefined) {
  return (snapshot?.pods ?? []).flatMap(({ uid, namespace, name, containers }) =>
    containers.flatMap(({ name: container, logs }) =>
      logs === undefined ? [] : [{ uid, namespace, pod: name, container, bytes: logs.bytes }],
    ),
  )
}
