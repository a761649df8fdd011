import { InjectionsError } from '../../model/pod/injections-error.ts'
import type { PodUid } from '../../model/pod/pod.ts'
import type { NoteStep } from '../../base/telemetry/note-step.ts'
import type { ClaimDeps } from './claim-deps.ts'
import { holdClaims } from './claim-lock.ts'
import { claimKey } from './claim-record.ts'
import type { ClaimRecord } from './claim-record.ts'
import { inCall, requireDraDriver, save, toClaim } from './prepare-claims.ts'

/**
 * Unprepares the claims of a pod of which nothing runs any more; claims that other pods of this node use stay prepared. It reads only
 * the record, so it needs neither the pod nor the API. Fails with an InjectionsError after it has unprepared what it can.
 */
export async function unprepareClaims(
  deps: ClaimDeps,
  { uid, noteStep }: { readonly uid: PodUid; readonly noteStep: NoteStep },
  signal: AbortSignal,
): Promise<void> {
  const keys = deps.records.of(uid).map(claimKey)
  if (keys.length === 0) return
  await holdClaims(deps.lock, keys, () => unprepareHeld(deps, { uid, noteStep }, signal), signal)
}

async function unprepareHeld(
  deps: ClaimDeps,
  { uid, noteStep }: { readonly uid: PodUid; readonly noteStep: NoteStep },
  signal: AbortSignal,
): Promise<void> {
  const { records } = deps
  const mine = records.of(uid)
  for (const record of mine.filter(({ podUids }) => podUids.size > 1))
    records.set({ ...record, podUids: new Set([...record.podUids].filter((other) => other !== uid)) })
  const last = mine.filter(({ podUids }) => podUids.size === 1)
  const drivers = [...new Set(last.flatMap((record) => [...record.drivers.keys()]))].sort()
  const outcomes = await Promise.all(
    drivers.map((driver) => {
      const batch = last.filter((record) => record.drivers.has(driver))
      const ask = () => askDriver(deps, { driver, batch }, signal)
      return noteStep(`NodeUnprepareResources of driver "${driver}"`, ask)
    }),
  )
  signal.throwIfAborted()
  const faults = outcomes.flat()
  const isFree = ({ uid: claimUid }: ClaimRecord) => !faults.some((fault) => fault.claimUid === claimUid)
  for (const record of last.filter(isFree)) records.delete(claimKey(record))
  await save(deps)
  const [fault] = faults
  if (fault !== undefined) throw fault.error
}

interface Fault {
  readonly claimUid: string
  readonly error: InjectionsError
}

/** One call for all claims of a driver; gives those that it did not give back, and why. */
async function askDriver(
  deps: ClaimDeps,
  { driver, batch }: { readonly driver: string; readonly batch: readonly ClaimRecord[] },
  signal: AbortSignal,
): Promise<readonly Fault[]> {
  try {
    const plugin = requireDraDriver(deps, driver)
    const answers = await inCall(() => plugin.unprepare(batch.map(toClaim), signal))
    return batch.flatMap(({ uid, name }) => {
      const error = answers.get(uid)?.error
      if (error === '') return []
      const message =
        error === undefined
          ? `NodeUnprepareResources skipped ResourceClaim ${name}`
          : `NodeUnprepareResources failed for ResourceClaim ${name}: ${error}`
      return [{ claimUid: uid, error: new InjectionsError(message) }]
    })
  } catch (error) {
    if (!(error instanceof InjectionsError)) throw error
    return batch.map(({ uid }) => ({ claimUid: uid, error }))
  }
}
