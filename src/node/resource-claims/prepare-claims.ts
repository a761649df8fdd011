import { InjectionsError } from '../../model/pod/injections-error.ts'
import type { Pod } from '../../model/pod/pod.ts'
import type { NoteStep } from '../../base/telemetry/note-step.ts'
import { errorMessage } from '../../base/telemetry/error-text.ts'
import type { ClaimDeps } from './claim-deps.ts'
import { holdClaims } from './claim-lock.ts'
import { claimKey } from './claim-record.ts'
import type { ClaimDevice, ClaimRecord } from './claim-record.ts'
import { findPodClaims } from './find-pod-claims.ts'
import type { Device } from './generated/dra-v1.ts'
import { DraCallError } from './dra-plugin.ts'

/**
 * Prepares the claims of a pod: they are checked first, then recorded, and only then drivers are asked, so that whatever happens to the
 * agent what was prepared can be given back. Fails with an InjectionsError.
 */
export async function prepareClaims(
  deps: ClaimDeps,
  { pod, noteStep }: { readonly pod: Pod; readonly noteStep: NoteStep },
  signal: AbortSignal,
): Promise<void> {
  const claims = await noteStep('read resource claims', () => findPodClaims(deps, pod, signal))
  // Before anything is recorded: what no driver was asked for, none has to give back.
  for (const driver of new Set(claims.flatMap(({ drivers }) => [...drivers.keys()]))) requireDraDriver(deps, driver)
  const keys = claims.map(claimKey)
  await holdClaims(deps.lock, keys, () => prepareHeld(deps, { pod, claims, noteStep }, signal), signal)
}

interface Preparation {
  readonly pod: Pod
  readonly claims: readonly ClaimRecord[]
  readonly noteStep: NoteStep
}

async function prepareHeld(
  deps: ClaimDeps,
  { pod, claims, noteStep }: Preparation,
  signal: AbortSignal,
): Promise<void> {
  const { records } = deps
  const merged = claims.map((claim) => withPod(records.get(claimKey(claim)) ?? claim, claim, pod))
  for (const record of merged) records.set(record)
  await save(deps)
  const open = merged.filter(({ isPrepared }) => !isPrepared)
  const drivers = [...new Set(open.flatMap((record) => [...record.drivers.keys()]))].sort()
  const outcomes = await Promise.allSettled(
    drivers.map((driver) => {
      const batch = open.filter((record) => record.drivers.has(driver))
      return noteStep(`NodePrepareResources of driver "${driver}"`, () => askDriver(deps, { driver, batch }, signal))
    }),
  )
  signal.throwIfAborted()
  const failure = outcomes.find((outcome) => outcome.status === 'rejected')
  if (failure !== undefined) throw failure.reason
  for (const { name, namespace } of open) {
    const record = records.get(claimKey({ name, namespace }))
    if (record !== undefined) records.set({ ...record, isPrepared: true })
  }
  await save(deps)
}

/** The same claim with one more pod; another one under the same name has to go first. */
function withPod(known: ClaimRecord, { uid, name }: ClaimRecord, { metadata }: Pod): ClaimRecord {
  if (known.uid !== uid)
    throw new InjectionsError(
      `old ResourceClaim with same name ${name} and different UID ${known.uid} still exists (previous pod force-deleted?!)`,
    )
  return { ...known, podUids: new Set([...known.podUids, metadata.uid]) }
}

/** One call for all claims that a driver has devices in; what it says of each claim is kept. */
async function askDriver(
  deps: ClaimDeps,
  { driver, batch }: { readonly driver: string; readonly batch: readonly ClaimRecord[] },
  signal: AbortSignal,
): Promise<void> {
  const { records } = deps
  const plugin = requireDraDriver(deps, driver)
  const answers = await inCall(() => plugin.prepare(batch.map(toClaim), signal))
  const skipped = batch.filter(({ uid }) => !answers.has(uid)).length
  for (const record of batch) {
    const answer = answers.get(record.uid)
    if (answer === undefined) throw new InjectionsError(`NodePrepareResources skipped ${skipped} ResourceClaims`)
    if (answer.error !== '')
      throw new InjectionsError(`NodePrepareResources failed for ResourceClaim ${record.name}: ${answer.error}`)
    // Another driver may have reported its devices meanwhile.
    const newest = records.get(claimKey(record)) ?? record
    records.set({ ...newest, drivers: new Map([...newest.drivers, [driver, answer.devices.map(toDevice)]]) })
  }
}

function toDevice({ poolName, deviceName, shareId, requestNames, cdiDeviceIds }: Device): ClaimDevice {
  return { poolName, deviceName, shareId, requestNames, cdiDeviceIds }
}

/** A claim as drivers receive it. */
export function toClaim({ namespace, uid, name }: ClaimRecord) {
  return { namespace, uid, name }
}

export function requireDraDriver({ drivers }: Pick<ClaimDeps, 'drivers'>, driver: string) {
  const plugin = drivers.find(driver)
  if (plugin === undefined) throw new InjectionsError(`DRA driver ${driver} is not registered`)
  return plugin
}

/** A call that failed as a whole is for the users of the pod to see. */
export async function inCall<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (!(error instanceof DraCallError)) throw error
    throw new InjectionsError(error.message, { cause: error })
  }
}

export async function save({ records }: Pick<ClaimDeps, 'records'>): Promise<void> {
  try {
    await records.save()
  } catch (error) {
    throw new InjectionsError(`record of claims: ${errorMessage(error)}`, {
      cause: error,
    })
  }
}
