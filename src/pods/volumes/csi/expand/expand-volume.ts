import { CsiCallError } from '../../../../protocols/csi/csi-call-error.ts'
import type { PodEvent } from '../../../../model/events/pod-events.ts'
import type { PersistentVolume, PersistentVolumeClaim } from '../../../../model/generated/core-v1.ts'
import type { SetUpRequest } from '../../volume-kind.ts'
import { VolumeStepError } from '../../volume-step-error.ts'
import { csiErrorText, requireDriver } from '../call-driver.ts'
import { expansionBegun, expansionDone, expansionFailed } from './claim-patches.ts'
import { computeExpansion, toBytes } from './compute-expansion.ts'
import type { Expansion } from './compute-expansion.ts'
import type { CsiVolumeDeps } from '../csi-volume-deps.ts'
import type { CsiVolume } from '../csi-volume.ts'
import { readSecret } from '../read-secret.ts'
import { toCapability } from '../to-capability.ts'
import { toApiTime } from '../../../../model/text/api-time.ts'

/** What is known of the size of a volume on this node, over all its pods. */
interface Sizing {
  /** In bytes; undefined before it was read. */
  size: bigint | undefined
  /** The driver can make it larger only when no pod uses it. */
  expandsUnusedOnly: boolean
}

export interface ExpandRequest {
  readonly request: SetUpRequest
  readonly volume: CsiVolume
  readonly persistent: PersistentVolume
  readonly sizing: Sizing
  /** Where the pod has it, and where the node has it. */
  readonly volumePath: string
  readonly stagingPath: string
}

type Expanding = ExpandRequest & {
  readonly claim: PersistentVolumeClaim
  readonly expansion: Extract<Expansion, { readonly kind: 'expand' }>
}

const INFEASIBLE: ReadonlySet<string> = new Set(['InvalidArgument', 'OutOfRange', 'NotFound'])

/** Has the driver make a volume as large on this node as the cluster has made it, and updates the claim. */
export async function expandVolume(deps: CsiVolumeDeps, wanted: ExpandRequest, signal: AbortSignal): Promise<void> {
  const { persistent, sizing, request, volume } = wanted
  const capacity = persistent.spec?.capacity?.['storage']
  const claimed = request.source.kind === 'persistent' ? request.source.claim : undefined
  if (claimed === undefined || capacity === undefined || sizing.expandsUnusedOnly) return
  if (sizing.size !== undefined && toBytes(capacity) <= sizing.size) return
  try {
    const claim = await deps.objects.claim(claimed, signal)
    sizing.size ??= toBytes(claim.status?.capacity?.['storage'])
    const expansion = computeExpansion({ claim, capacity, known: sizing.size })
    if (expansion.kind === 'none') return
    if (expansion.kind === 'done') return void (sizing.size = toBytes(expansion.size))
    if (volume.readOnly) return refuse(deps, { ...wanted, claim, expansion })
    await expand(deps, { ...wanted, claim, expansion }, signal)
    sizing.size = toBytes(expansion.size)
  } catch (error) {
    if (signal.aborted) throw error
    throw toStepError(error, request.ready !== undefined)
  }
}

/** Containers that run keep what they have; a pod that starts is to have the size that it counts on. */
function toStepError(error: unknown, isInUse: boolean): VolumeStepError {
  const message = csiErrorText(error)
  return isInUse
    ? new VolumeStepError(message, {
        step: 'NodeExpandVolume.NodeExpandVolume failed',
        reason: 'VolumeResizeFailed',
        outcome: 'uncertain',
        cause: error,
      })
    : new VolumeStepError(message, {
        step: 'MountVolume.Setup failed while expanding volume',
        outcome: 'uncertain',
        cause: error,
      })
}

function refuse(deps: CsiVolumeDeps, wanted: Expanding): void {
  const { request, sizing, expansion } = wanted
  const message = `MountVolume.NodeExpandVolume failed for volume "${request.specName}" requested read-only file system`
  report(deps, wanted, { type: 'Warning', reason: 'FileSystemResizeFailed', message })
  // Reported once.
  sizing.size = toBytes(expansion.size)
}

/** Users of the pod and of the claim want to know. */
function report({ events }: CsiVolumeDeps, { request, claim }: Expanding, event: PodEvent): void {
  events.record(request.pod, event)
  const { namespace = '', name = '', uid = '', resourceVersion = '' } = claim.metadata ?? {}
  const about = { kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace, name, uid, resourceVersion }
  events.record(request.pod, { ...event, about })
}

async function expand(deps: CsiVolumeDeps, wanted: Expanding, signal: AbortSignal): Promise<void> {
  const { request, claim, expansion } = wanted
  const { objects, nodeName } = deps
  const { followed, claimIsUpdated, size } = expansion
  const key = { namespace: claim.metadata?.namespace ?? '', name: claim.metadata?.name ?? '' }
  const isReported = followed && !claimIsUpdated
  const known = isReported ? await objects.patchClaimStatus(key, expansionBegun(claim), signal) : claim
  if (!(await callExpand(deps, { ...wanted, claim: known }, signal))) return
  const message = `MountVolume.NodeExpandVolume succeeded for volume "${request.specName}" ${nodeName}`
  report(deps, wanted, { type: 'Normal', reason: 'FileSystemResizeSuccessful', message })
  if (!claimIsUpdated) await objects.patchClaimStatus(key, expansionDone(known, size), signal)
}

/** False: nothing was done, and there is nothing to report. */
async function callExpand(deps: CsiVolumeDeps, wanted: Expanding, signal: AbortSignal): Promise<boolean> {
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
    if (expansion.followed && error.isFinal) await reportFailure(deps, wanted, error, signal)
    if (error.code !== 'FailedPrecondition') throw error
    // It cannot be done while pods use it, and keeps none of them from starting.
    sizing.expandsUnusedOnly = true
    deps.log.warn('a CSI volume cannot be made larger while it is in use', { volume: request.specName, error })
    return false
  }
}

async function reportFailure(
  { objects, clock, log }: CsiVolumeDeps,
  { claim }: Expanding,
  error: CsiCallError,
  signal: AbortSignal,
): Promise<void> {
  const key = { namespace: claim.metadata?.namespace ?? '', name: claim.metadata?.name ?? '' }
  const time = toApiTime(clock.now())
  const failure = { message: csiErrorText(error), infeasible: INFEASIBLE.has(error.code), time }
  try {
    await objects.patchClaimStatus(key, expansionFailed(claim, failure), signal)
  } catch (cause) {
    signal.throwIfAborted()
    log.warn('cannot report to a claim that its volume could not be made larger', { ...key, error: cause })
  }
}
