import type { Clock } from '../../../base/async/clock.ts'
import type { Settings } from '../../../model/config/load-configuration.ts'
import { createProjectQuotas } from '../../../system/mounts/project-quotas.ts'
import { createVolumeFiles } from '../../../system/directories/volume-files.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import { VolumeProjects } from './volume-projects.ts'
import type { VolumeProjectsDeps } from './volume-projects.ts'

/** Counts what volumes take by project quotas where that is wanted; undefined: they are walked through. */
export async function createVolumeProjects(deps: {
  readonly settings: Pick<Settings, 'gates'>
  readonly host: { recordFolder(path: string): VolumeProjectsDeps['records'] }
  readonly rootDirectory: string
  readonly clock: Clock
  readonly log: Logger
}): Promise<VolumeProjects | undefined> {
  const { settings, host, rootDirectory, clock, log } = deps
  if (!settings.gates.enabled('LocalStorageCapacityIsolationFSQuotaMonitoring')) return undefined
  const files = createVolumeFiles({ rootDirectory })
  return await VolumeProjects.load({
    quotas: createProjectQuotas({ clock, mountsFile: `${rootDirectory}/deckhand/quota-mounts` }),
    records: host.recordFolder(`${rootDirectory}/deckhand/projects`),
    isDirectory: (path) => files.isDirectory(path),
    clock,
    log,
  })
}
