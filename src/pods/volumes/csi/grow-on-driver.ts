import { CsiCallError } from '../../../protocols/csi/csi-call-error.ts'
import { toBytes } from '../expand/compute-expansion.ts'
import { reportFailedGrowth } from '../expand/expand-volume.ts'
import type { Growth, Sizing } from '../expand/expand-volume.ts'
import type { SetUpRequest } from '../volume-kind.ts'
import { csiErrorText, requireDriver } from './call-driver.ts'
import type { CsiVolumeDeps } from './csi-volume-deps.ts'
import type { CsiVolume } from './csi-volume.ts'
import { readSecret } from './read-secret.ts'
import { toCapability } from './to-capability.ts'

export interface DriverGrowth extends Growth {
  readonly request: SetUpRequest
  readonly volume: CsiVolume
  readonly sizing: Sizing
  /** Where the pod has it, and where the node has it. */
  readonly volumePath: string
  readonly stagingPath: string
}

const INFEASIBLE: ReadonlySet<string> = new Set(['InvalidArgument', 'OutOfRange', 'NotFound'])

/** Has the driver make a volume larger. False: nothing was done, and there is nothing to report. */
export async function growOnDriver(deps: CsiVolumeDeps, wanted: DriverGrowth, signal: AbortSignal): Promise<boolean> {
  const { volume, sizing, expansion, request, volumePath, stagingPath } = wanted
  const driver = requireDriver(deps.drivers, volume.driver)
  const can = await driver.capabilities(signal)
  if (!can.has('EXPAND_VOLUME')) {
    if (!expansion.followed || expansion.claimIsUpdated) return false
    throw new Error(`NodeExpand is not supported by the CSI driver ${volume.driver}`)
  }
  const secrets = await readSecret(deps, volume.expandSecret, 'NodeExpandSecretRef', signal)
  const capability = toCapability(volume, can, undefined)
  const requiredBytes = toBytes(expansion.size)
  const paths = { volumePath: deps.toDriverPath(volumePath), stagingPath: deps.toDriverPath(stagingPath) }
  const { handle: volumeId, isMigrated } = volume
  const call = () => driver.expand({ volumeId, isMigrated, ...paths, capability, requiredBytes, secrets }, signal)
  try {
    const step = `NodeExpandVolume of CSI driver ${volume.driver} for volume "${request.name}"`
    await (request.noteStep?.(step, call) ?? call())
    return true
  } catch (error) {
    if (signal.aborted || !(error instanceof CsiCallError)) throw error
    const failure = { message: csiErrorText(error), infeasible: INFEASIBLE.has(error.code) }
    if (error.isFinal) await reportFailedGrowth(deps, wanted, failure, signal)
    if (error.code !== 'FailedPrecondition') throw error
    // It cannot be done while pods use it, and keeps none of them from starting.
    sizing.expandsUnusedOnly = true
    deps.log.warn('a CSI volume cannot be made larger while it is in use', { volume: request.specName, error })
    return false
  }
}
