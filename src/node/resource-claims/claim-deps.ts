import type { KeyedLock } from '../../base/async/keyed-lock.ts'
import type { ResourceClaim } from '../../model/resources/resource-claim.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { ClaimRecords } from './claim-records.ts'
import type { ClaimRules } from './compute-claim-names.ts'
import type { DraPlugin } from './dra-plugin.ts'

/** Reads a claim from the API, by its name. */
type ReadClaim = (
  key: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
) => Promise<ResourceClaim>

/** What the claims of pods are prepared and given back with. */
export interface ClaimDeps {
  readonly records: ClaimRecords
  readonly lock: KeyedLock
  readonly drivers: { find(driver: string): Pick<DraPlugin, 'prepare' | 'unprepare'> | undefined }
  readonly readClaim: ReadClaim
  readonly rules: ClaimRules
  readonly log: Logger
}
