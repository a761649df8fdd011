import type { ContainerStatus } from '../../model/generated/core-v1.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { hasRestartAllRule, mayRestart } from '../../model/pod/restart-policy.ts'

/**
 * The statuses of regular containers as they may follow on what was reported: one that ended for good stays ended, also when something of it seems to run.
 * Those who wait for the end of a run-once pod have acted on it.
 */
export function computeLegalStatuses(
  pod: Pod,
  reported: readonly ContainerStatus[] | undefined,
  said: readonly ContainerStatus[] | undefined,
): readonly ContainerStatus[] | undefined {
  if (reported === undefined || said === undefined || hasRestartAllRule(pod)) return said ?? reported
  return said.map((status) => {
    const before = reported.find(({ name }) => name === status.name)
    const isBack = before?.state?.terminated !== undefined && status.state?.terminated === undefined
    return isBack && endedForGood(pod, before) ? before : status
  })
}

function endedForGood(pod: Pod, { name, state }: ContainerStatus): boolean {
  const container = pod.spec.containers.find((each) => each.name === name)
  // What came back before the pod was deleted had every right to.
  const living = { ...pod, metadata: { ...pod.metadata, deletionTimestamp: undefined } }
  return container !== undefined && !mayRestart(living, container, state?.terminated?.exitCode ?? 0)
}
