import type { Clock } from '../../../base/async/clock.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import type { PodEvent, PodEvents } from '../../../model/events/pod-events.ts'
import type { PersistentVolume, PersistentVolumeClaim } from '../../../model/generated/core-v1.ts'
import { toApiTime } from '../../../model/text/api-time.ts'
import type { PodObjects } from '../../objects/pod-objects.ts'
import { csiErrorText } from '../csi/call-driver.ts'
import type { SetUpRequest } from '../volume-kind.ts'
import { VolumeStepError } from '../volume-step-error.ts'
import { expansionBegun, expansionDone, expansionFailed } from './claim-patches.ts'
import { computeExpansion, toBytes } from './compute-expansion.ts'
import type { Expansion } from './compute-expansion.ts'

export interface ExpandDeps {
  readonly objects: Pick<PodObjects, 'claim' | 'persistentVolume' | 'patchClaimStatus'>
  readonly nodeName: string
  readonly events: PodEvents
  readonly clock: Clock
  readonly log: Logger
}

/** What is known of the size of a volume on this node, over all its pods. */
export interface Sizing {
  /** In bytes; undefined before it was read. */
  size: bigint | undefined
  /** Its driver can make it larger only when no pod uses it. */
  expandsUnusedOnly: boolean
}

/** One expansion that is to be done. */
export interface Growth {
  readonly claim: PersistentVolumeClaim
  readonly expansion: Extract<Expansion, { readonly kind: 'expand' }>
}

export interface ExpandRequest {
  readonly request: SetUpRequest
  readonly sizing: Sizing
  readonly readOnly: boolean
  /** Makes it larger on this node. False: nothing was done, and there is nothing to report. */
  readonly grow: (growth: Growth, signal: AbortSignal) => Promise<boolean>
}

/** Makes a volume as large on this node as the cluster has made it, and updates the claim. */
export async function expandVolume(deps: ExpandDeps, wanted: ExpandRequest, signal: AbortSignal): Promise<void> {
  const { sizing, request } = wanted
  const persistent = await readPersistent(deps, request, signal)
  const capacity = persistent?.spec?.capacity?.['storage']
  const claimed = request.source.kind === 'persistent' ? request.source.claim : undefined
  if (claimed === undefined || capacity === undefined || sizing.expandsUnusedOnly) return
  if (sizing.size !== undefined && toBytes(capacity) <= sizing.size) return
  try {
    const claim = await deps.objects.claim(claimed, signal)
    sizing.size ??= toBytes(claim.status?.capacity?.['storage'])
    const expansion = computeExpansion({ claim, capacity, known: sizing.size })
    if (expansion.kind === 'none') return
    if (expansion.kind === 'done') return void (sizing.size = toBytes(expansion.size))
    if (wanted.readOnly) return refuse(deps, wanted, { claim, expansion })
    await expand(deps, wanted, { claim, expansion }, signal)
    sizing.size = toBytes(expansion.size)
  } catch (error) {
    if (signal.aborted) throw error
    throw toStepError(error, request.ready !== undefined)
  }
}

/** A volume that is mounted already may have become larger since; if the API does not answer, it counts as unchanged. */
async function readPersistent(
  { objects, log }: ExpandDeps,
  { source, ready }: SetUpRequest,
  signal: AbortSignal,
): Promise<PersistentVolume | undefined> {
  if (source.kind !== 'persistent' || source.claim === undefined) return undefined
  if (ready === undefined) return source.volume
  try {
    return await objects.persistentVolume(source.volume.metadata?.name ?? '', signal)
  } catch (error) {
    signal.throwIfAborted()
    log.debug('cannot look whether a volume has become larger', { error })
    return undefined
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

function refuse(deps: ExpandDeps, { request, sizing }: ExpandRequest, growth: Growth): void {
  const message = `MountVolume.NodeExpandVolume failed for volume "${request.specName}" requested read-only file system`
  report(deps, request, growth, { type: 'Warning', reason: 'FileSystemResizeFailed', message })
  // Reported once.
  sizing.size = toBytes(growth.expansion.size)
}

/** Users of the pod and of the claim want to know. */
function report({ events }: ExpandDeps, { pod }: SetUpRequest, { claim }: Growth, event: PodEvent): void {
  events.record(pod, event)
  const { namespace = '', name = '', uid = '', resourceVersion = '' } = claim.metadata ?? {}
  const about = { kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace, name, uid, resourceVersion }
  events.record(pod, { ...event, about })
}

async function expand(
  deps: ExpandDeps,
  { request, grow }: ExpandRequest,
  growth: Growth,
  signal: AbortSignal,
): Promise<void> {
  const { claim, expansion } = growth
  const { objects, nodeName } = deps
  const { followed, claimIsUpdated, size } = expansion
  const isReported = followed && !claimIsUpdated
  const known = isReported ? await objects.patchClaimStatus(keyOf(claim), expansionBegun(claim), signal) : claim
  if (!(await grow({ claim: known, expansion }, signal))) return
  const message = `MountVolume.NodeExpandVolume succeeded for volume "${request.specName}" ${nodeName}`
  report(deps, request, growth, { type: 'Normal', reason: 'FileSystemResizeSuccessful', message })
  if (!claimIsUpdated) await objects.patchClaimStatus(keyOf(claim), expansionDone(known, size), signal)
}

/** Says in the claim why its volume is not larger. */
export async function reportFailedGrowth(
  { objects, clock, log }: Pick<ExpandDeps, 'objects' | 'clock' | 'log'>,
  { claim, expansion }: Growth,
  failure: { readonly message: string; readonly infeasible: boolean },
  signal: AbortSignal,
): Promise<void> {
  if (!expansion.followed) return
  const key = keyOf(claim)
  try {
    await objects.patchClaimStatus(key, expansionFailed(claim, { ...failure, time: toApiTime(clock.now()) }), signal)
  } catch (cause) {
    signal.throwIfAborted()
    log.warn('cannot report to a claim that its volume could not be made larger', { ...key, error: cause })
  }
}

function keyOf({ metadata }: PersistentVolumeClaim) {
  return { namespace: metadata?.namespace ?? '', name: metadata?.name ?? '' }
}
