import type { Logger } from '../../base/telemetry/logger.ts'
import type { Volumes } from './volumes.ts'

export interface FindVolumesDeps {
  readonly volumes: Pick<Volumes, 'adopt'>
  readonly rootDirectory: string
  readonly host: { makeShared(path: string, signal: AbortSignal): Promise<void> }
  readonly log: Logger
}

/** Makes the place of volumes ready and takes in those of earlier agents. Most pods can do without both, so a failure is only logged. */
export async function findVolumes(
  { volumes, rootDirectory, host, log }: FindVolumesDeps,
  signal: AbortSignal,
): Promise<void> {
  const orReport = (message: string) => (error: unknown) => {
    signal.throwIfAborted()
    log.error(message, { error })
  }
  await host
    .makeShared(rootDirectory, signal)
    .catch(orReport('cannot make the root directory a shared mount, so containers do not see what is mounted later'))
  await volumes.adopt().catch(orReport('cannot look for volumes of earlier agents, going on without'))
}
