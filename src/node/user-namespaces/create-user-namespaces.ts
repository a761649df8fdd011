import type { Settings } from '../../model/config/load-configuration.ts'
import type { SubordinateIds } from '../../system/machine/read-subordinate-ids.ts'
import { computeIdRange } from './compute-id-range.ts'
import { UserNamespaces } from './user-namespaces.ts'
import type { UserNamespaceRecords } from './user-namespaces.ts'
import type { Logger } from '../../base/telemetry/logger.ts'

export interface UserNamespacesSetup {
  readonly settings: Settings
  readonly host: {
    readSubordinateIds(signal: AbortSignal): Promise<SubordinateIds | undefined>
    userNamespaceRecords(rootDirectory: string): UserNamespaceRecords
  }
  readonly log: Logger
  readonly random: () => number
}

/** The ids that pods with user namespaces get, with what earlier agents gave away. Fails where the machine's ids do not fit. */
export async function createUserNamespaces(
  { settings, host, log, random }: UserNamespacesSetup,
  signal: AbortSignal,
): Promise<UserNamespaces> {
  const { maxPods, userNamespaces } = settings.config
  const { idsPerPod } = userNamespaces
  const subordinate = await host.readSubordinateIds(signal)
  const range = computeIdRange({ idsPerPod, maxPods, subordinate })
  const records = host.userNamespaceRecords(settings.flags.rootDir)
  return await UserNamespaces.load({ records, range, idsPerPod, random, log })
}
