import type { ObservedContainer } from '../../model/pod/observed-pod.ts'

const LOG_FILE = /^(\d+)\.log(?:\.|$)/

/**
 * The number of the next instance. When the runtime has forgotten all earlier ones, the log files left behind show how
 * many there were: a new instance must never write into an old one's log. The number before is of a pod that ended and came back.
 */
export function computeRestartCount(
  newest: Pick<ObservedContainer, 'restartCount'> | undefined,
  logFileNames: readonly string[],
  before = -1,
): number {
  if (newest !== undefined) return newest.restartCount + 1
  const numbers = logFileNames.flatMap((name) => LOG_FILE.exec(name)?.[1] ?? []).map(Number)
  return Math.max(before, ...numbers) + 1
}
