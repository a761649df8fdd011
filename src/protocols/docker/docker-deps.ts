import type { Clock } from '../../base/async/clock.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { DockerFiles } from '../../system/directories/docker-files.ts'
import type { DockerApi } from './api/docker-api.ts'
import type { Downloads } from './calls/downloads.ts'
import type { LogLimits } from './create/compute-container.ts'
import type { DaemonInfo } from './daemon-info.ts'
import type { Hairpins } from './network/hairpins.ts'
import type { PodNetworks } from './network/pod-networks.ts'

export type SandboxLogins = (
  image: string,
) => Promise<readonly { readonly username: string; readonly password: string }[]>

/** What the calls are made with. */
export interface DockerDeps {
  readonly api: DockerApi
  readonly daemon: DaemonInfo
  readonly files: DockerFiles
  readonly downloads: Downloads
  /** Images of sandboxes: the first that Docker has, else the last. */
  readonly pauseImages: readonly string[]
  readonly sandboxLogins: SandboxLogins
  readonly logLimits: LogLimits
  /** A pull without progress for so long is given up. */
  readonly pullProgressMs: number
  /** Undefined where pods have the network of Docker and no other. */
  readonly networks: PodNetworks | undefined
  /** Undefined where the ports of Docker's bridge stay as they are. */
  readonly hairpins: Hairpins | undefined
  /** Aborted when the client is closed: for work that no call waits for. */
  readonly end: AbortSignal
  readonly clock: Clock
  readonly log: Logger
}
