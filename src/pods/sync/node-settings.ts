import type { ContainerNodeSettings } from '../containers/compute-container-config.ts'
import type { SandboxNodeSettings } from '../containers/compute-pod-sandbox-config.ts'

import type { StatusSettings } from '../status/status-input.ts'

/** What is the same for every pod of this node. */
export interface NodeSettings {
  readonly rootDirectory: string
  readonly podLogsDirectory: string
  readonly sandbox: SandboxNodeSettings
  readonly container: ContainerNodeSettings
  readonly status: StatusSettings
  /** How many dead instances of a container are kept besides the newest living one; at least one. */
  readonly deadInstancesKept: number
  /** How long a dead container stays at least, from the time it was made. */
  readonly deadContainerLeastMs: number
}
