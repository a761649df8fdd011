import type { Clock } from '../../base/async/clock.ts'
import type { Settings } from '../../model/config/load-configuration.ts'
import { readSubordinateIds } from '../../system/machine/read-subordinate-ids.ts'
import { createUserNamespaceRecords } from '../../system/directories/user-namespace-records.ts'
import { computeIdRange } from './compute-id-range.ts'
import { UserNamespaces } from './user-namespaces.ts'
import type { Logger } from '../../base/telemetry/logger.ts'

export interface UserNamespacesSetup {
  readonly settings: Settings
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  readonly log: Logger
  readonly random: () => number
}

/** The ids that pods with user namespaces get, with what earlier agents gave away. Fails where the machine's ids do not fit. */
export async function createUserNamespaces(
  { settings, environment, clock, log, random }: UserNamespacesSetup,
  signal: AbortSignal,
): Promise<UserNamespaces> {
  const { maxPods, userNamespaces } = settings.config
  const { idsPerPod } = userNamespaces
  const subordinate = await readSubordinateIds({ clock, path: environment['PATH'] ?? '' }, signal)
  const range = computeIdRange({ idsPerPod, maxPods, subordinate })
  const records = createUserNamespaceRecords(settings.flags.rootDir)
  return await UserNamespaces.load({ records, range, idsPerPod, random, log })
}
