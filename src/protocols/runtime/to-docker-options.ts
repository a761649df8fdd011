import type { Logger } from '../../base/telemetry/logger.ts'
import { listDockerFlags, toDockerSettings } from '../../model/config/flags/docker-flags.ts'
import type { Settings } from '../../model/config/load-configuration.ts'
import { MovingRecords } from '../cni/moving-records.ts'
import type { MovingRecordsDeps } from '../cni/moving-records.ts'
import { PAUSE_IMAGES } from '../docker/pause-images.ts'

export interface DockerOptionsDeps {
  readonly settings: Settings
  readonly host: { stateFile(path: string): MovingRecordsDeps['file']; recordFolder: MovingRecordsDeps['open'] }
  /** --root-dir without symbolic links. */
  readonly rootDirectory: string
  readonly log: Logger
}

/** How pods run where the runtime is Docker. */
export function toDockerOptions({ settings, host, rootDirectory, log }: DockerOptionsDeps) {
  const { pauseImage, pullProgressMs, cni, network } = toDockerSettings(settings.flags)
  const { configurations, programs, mtu, cache } = network
  const records = new MovingRecords({
    current: `${cache}/results`,
    file: host.stateFile(`${rootDirectory}/cni_cache_folders`),
    open: (path) => host.recordFolder(path),
    log,
  })
  return {
    dockerFlags: listDockerFlags(settings.flags),
    pauseImages: pauseImage === '' ? PAUSE_IMAGES : [pauseImage],
    pullProgressMs,
    // Parity: without kubenet, promiscuous-bridge meant hairpin-veth.
    hairpin: settings.config.hairpinMode !== 'none',
    network: { enabled: cni, configurations, programs, mtu, records },
  }
}
