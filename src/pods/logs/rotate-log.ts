import { basename, dirname, join } from 'node:path'
import type { Clock } from '../../base/async/clock.ts'
import type { CriCalls } from '../../protocols/cri/cri-calls.ts'
import type { LogFiles } from '../../system/directories/logs/log-files.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { COMPRESSED_SUFFIX, computeLogRotation, TEMPORARY_SUFFIX } from './compute-log-rotation.ts'

/** A running container and the file into which the runtime writes what it prints. */
export interface LoggedContainer {
  readonly containerId: string
  readonly logPath: string
  /** namespace/name */
  readonly pod: string
  readonly name: string
}

export interface RotateLogDeps {
  readonly calls: Pick<CriCalls, 'reopenContainerLog'>
  readonly files: LogFiles
  readonly limits: { readonly maxSizeBytes: number; readonly maxFiles: number }
  readonly clock: Clock
  readonly log: Logger
}

/** Checks the log of one container and rotates it when it is large enough; a log that is missing is made again. */
export async function rotateLog(deps: RotateLogDeps, container: LoggedContainer, signal: AbortSignal): Promise<void> {
  const { calls, files, limits, clock, log } = deps
  const { containerId, logPath } = container
  // A runtime that keeps no logs names none.
  if (logPath === '') return
  const size = await files.size(logPath)
  if (size === undefined) {
    await calls.reopenContainerLog({ containerId }, signal)
    return
  }
  if (size === 'elsewhere' || size < limits.maxSizeBytes) return
  const directory = dirname(logPath)
  const names = await files.names(directory)
  const rotation = computeLogRotation({
    logName: basename(logPath),
    names,
    maxFiles: limits.maxFiles,
    now: clock.now(),
  })
  for (const name of rotation.remove) await files.remove(join(directory, name))
  for (const name of rotation.compress) await compress(deps, join(directory, name), signal)
  await rotateCurrent(deps, { containerId, logPath, rotated: join(directory, rotation.rotated) }, signal)
  log.debug('log rotated', { pod: container.pod, container: container.name, size, rotated: rotation.rotated })
}

/** An older log that cannot be compressed stays as it is: a full disk is no reason to let the current one grow. */
async function compress({ files, log }: RotateLogDeps, path: string, signal: AbortSignal): Promise<void> {
  const target = `${path}${COMPRESSED_SUFFIX}`
  try {
    await files.compress({ path, temporary: `${path}${TEMPORARY_SUFFIX}`, target }, signal)
  } catch (error) {
    signal.throwIfAborted()
    log.warn('cannot compress a rotated log', { path, error })
  }
}

async function rotateCurrent(
  { calls, files }: RotateLogDeps,
  {
    containerId,
    logPath,
    rotated,
  }: { readonly containerId: string; readonly logPath: string; readonly rotated: string },
  signal: AbortSignal,
): Promise<void> {
  await files.rename(logPath, rotated)
  try {
    await calls.reopenContainerLog({ containerId }, signal)
  } catch (error) {
    // A call that failed on its way back did reopen the log: what is written to the new one must not be lost.
    const newSize = (await files.size(logPath)) ?? 0
    if (newSize === 0) await files.rename(rotated, logPath)
    throw error
  }
}
