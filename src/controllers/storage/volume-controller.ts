import { errorMessage } from '../../base/telemetry/error-text.ts'
import type { PersistentVolume } from '../../model/generated/core-v1.ts'
import { createController, createQueue, queueChanges } from '../engine/controller.ts'
import type { Controller } from '../engine/controller.ts'
import { parseWorkKey } from '../engine/live-object.ts'
import type { Live } from '../engine/live-object.ts'
import { createObjectEvents } from '../engine/object-events.ts'
import type { RecordEvent } from '../engine/object-events.ts'
import type { StorageDeps } from './claim-controller.ts'
import { computeVolumeStep } from './compute-volume-step.ts'
import { DATA_FINALIZER } from './local-provisioner.ts'

type Volumes = Pick<StorageDeps, 'volumes' | 'folders'> & { readonly record: RecordEvent }

/** Removes volumes that are no longer used, with their data, where their policy says so. */
export function createVolumeController(deps: StorageDeps): Controller {
  const { volumes, folders, log } = deps
  const queue = createQueue('volumes', deps)
  queueChanges(queue, volumes)
  const record = createObjectEvents(deps.record, 'persistentvolume-controller', volumes.kind)
  const controller = createController({
    name: 'volumes',
    queue,
    reads: [volumes],
    reconcile: async (key, signal) => {
      await reconcile({ volumes, folders, record }, parseWorkKey(key).name, signal)
      return undefined
    },
  })
  return {
    name: controller.name,
    async run(signal) {
      await volumes.untilSynced(signal)
      // Their objects are lost, or belong to a backup: a person has to say whether the data may go.
      const orphans = (await folders.list()).filter((name) => volumes.known.get('', name) === undefined)
      if (orphans.length > 0) log.warn('folders of volumes that the API does not know', { root: folders.root, orphans })
      await controller.run(signal)
    },
  }
}

async function reconcile(parts: Volumes, name: string, signal: AbortSignal): Promise<void> {
  const { volumes, folders, record } = parts
  const known = volumes.known.get('', name)
  if (known === undefined) return
  const step = computeVolumeStep(known, folders.root)
  switch (step.kind) {
    case 'nothing':
      return
    case 'set finalizers':
      await volumes.patch(known, { metadata: { finalizers: step.finalizers } }, signal)
      return
    case 'fail':
      return await fail(parts, known, step, signal)
    case 'delete':
      return await reclaim({ volumes, folders, record }, known, signal)
  }
}

async function reclaim(parts: Volumes, known: Live<PersistentVolume>, signal: AbortSignal): Promise<void> {
  const { volumes, folders } = parts
  // Data that are gone do not come back, so it is asked once more whether they may go.
  const volume = await volumes.read('', known.metadata.name, signal)
  if (volume?.metadata.uid !== known.metadata.uid) return
  if (computeVolumeStep(volume, folders.root).kind !== 'delete') return
  try {
    await folders.remove(volume.metadata.name, signal)
  } catch (error) {
    if (signal.aborted) throw error
    await fail(parts, volume, { reason: 'VolumeFailedDelete', message: errorMessage(error) }, signal)
    throw error
  }
  const finalizers = (volume.metadata.finalizers ?? []).filter((each) => each !== DATA_FINALIZER)
  const isLeaving = volume.metadata.deletionTimestamp !== undefined
  // The order matters: without its finalizer and not deleted yet, the next pass deletes it; the other way round nothing is left to do.
  const freed = await volumes.patch(volume, { metadata: { finalizers } }, signal)
  if (!isLeaving) await volumes.remove(freed, {}, signal)
}

async function fail(
  { volumes, record }: Volumes,
  volume: Live<PersistentVolume>,
  { reason, message }: { readonly reason: string; readonly message: string },
  signal: AbortSignal,
): Promise<void> {
  if (volume.status?.phase === 'Failed' && volume.status.message === message) return
  const failed = await volumes.updateStatus(
    { ...volume, status: { ...volume.status, phase: 'Failed', message } },
    signal,
  )
  record(failed, 'Warning', reason, message)
}
