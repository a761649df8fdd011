import { errorMessage } from '../../base/telemetry/error-text.ts'
import type { StorageClass } from '../../model/generated/api-groups.ts'
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../model/generated/core-v1.ts'
import { claimNamesOf } from '../../model/storage/claims-of-pod.ts'
import {
  classNameOf,
  LOCAL_PROVISIONER,
  SELECTED_NODE,
  STORAGE_PROVISIONERS,
} from '../../model/storage/storage-classes.ts'
import { toApiTime } from '../../model/text/api-time.ts'
import { isAlreadyThere } from '../engine/api-objects.ts'
import type { ApiObjects } from '../engine/api-objects.ts'
import { createController, createQueue, queueChanges, reconcileKnown } from '../engine/controller.ts'
import type { Controller } from '../engine/controller.ts'
import type { ControllerDeps } from '../engine/controller-deps.ts'
import { keyOf, toKey } from '../engine/live-object.ts'
import type { Live } from '../engine/live-object.ts'
import { createObjectEvents } from '../engine/object-events.ts'
import type { RecordEvent } from '../engine/object-events.ts'
import type { NextTurn } from '../engine/work-queue.ts'
import { computeClaimStep } from './compute-claim-step.ts'
import type { ClaimStep } from './compute-claim-step.ts'
import type { LocalVolumeFolders } from './local-volume-folders.ts'

/** What the parts of storage share. */
export interface StorageDeps extends ControllerDeps {
  readonly nodeName: string
  readonly volumes: ApiObjects<PersistentVolume>
  readonly storageClasses: ApiObjects<StorageClass>
  readonly folders: LocalVolumeFolders
}

interface Claims extends StorageDeps {
  readonly say: RecordEvent
  readonly sayAsProvisioner: RecordEvent
}

/** Makes the volumes that claims ask for, and says why one has none. */
export function createClaimController(deps: StorageDeps): Controller {
  const { claims, volumes, storageClasses, pods, nodes } = deps
  const queue = createQueue('claims', deps)
  queueChanges(queue, claims)
  const queueOfPod = (pod: Live<Pod> | undefined) => {
    if (pod !== undefined) for (const name of claimNamesOf(pod)) queue.add(toKey(pod.metadata.namespace, name))
  }
  pods.known.onChange((after, before) => {
    // What matters of a pod is that it is there, and on which node.
    if (after === undefined || before?.spec.nodeName !== after.spec.nodeName) queueOfPod(after ?? before)
  })
  const queueUnbound = (isAffected: (claim: Live<PersistentVolumeClaim>) => boolean) => {
    for (const claim of claims.known.all()) if (isAffected(claim)) queue.add(keyOf(claim))
  }
  storageClasses.known.onChange((after, before) => {
    const name = (after ?? before)?.metadata.name
    queueUnbound((claim) => claim.status?.phase !== 'Bound' && classNameOf(claim) === name)
  })
  volumes.known.onChange((after, before) => {
    const name = (after ?? before)?.metadata.name
    queueUnbound((claim) => claim.spec.volumeName === name)
  })
  nodes.known.onChange((after, before) => {
    if (before === undefined || after === undefined) queueUnbound(({ status }) => status?.phase !== 'Bound')
  })
  const say = createObjectEvents(deps.record, 'persistentvolume-controller', claims.kind)
  const sayAsProvisioner = createObjectEvents(deps.record, LOCAL_PROVISIONER, claims.kind)
  return createController({
    name: 'claims',
    queue,
    reads: [claims, volumes, storageClasses, pods, nodes],
    reconcile: reconcileKnown(claims, (claim, signal) => reconcile({ ...deps, say, sayAsProvisioner }, claim, signal)),
  })
}

async function reconcile(parts: Claims, claim: Live<PersistentVolumeClaim>, signal: AbortSignal): Promise<NextTurn> {
  const { volumes, storageClasses, pods, nodes, nodeName, folders } = parts
  const step = computeClaimStep({
    claim,
    storageClass: storageClasses.known.get('', classNameOf(claim) ?? ''),
    volume: volumes.known.get('', claim.spec.volumeName ?? ''),
    pods: pods.known.in(claim.metadata.namespace),
    node: nodes.known.get('', nodeName),
    root: folders.root,
  })
  await apply(parts, claim, step, signal)
  return undefined
}

async function apply(
  parts: Claims,
  claim: Live<PersistentVolumeClaim>,
  step: ClaimStep,
  signal: AbortSignal,
): Promise<void> {
  switch (step.kind) {
    case 'nothing':
      return
    case 'report':
      return parts.say(claim, step.type, step.reason, step.message)
    case 'select':
      await parts.claims.patch(claim, { metadata: { annotations: { [SELECTED_NODE]: step.nodeName } } }, signal)
      return
    case 'await':
      await announce(parts, claim, step.provisioner, signal)
      return
    case 'refuse': {
      const announced = await announce(parts, claim, LOCAL_PROVISIONER, signal)
      return parts.sayAsProvisioner(announced, 'Warning', 'ProvisioningFailed', failure(claim, step.message))
    }
    case 'provision':
      return await provision(parts, claim, step.volume, signal)
    case 'expand':
      return await expand(parts, claim, step, signal)
  }
}

function failure({ spec }: Live<PersistentVolumeClaim>, why: string): string {
  return `failed to provision volume with StorageClass "${spec.storageClassName ?? ''}": ${why}`
}

/** Writes down who makes the volume, and says that the claim waits for it. */
async function announce(
  { claims, say }: Claims,
  claim: Live<PersistentVolumeClaim>,
  provisioner: string,
  signal: AbortSignal,
): Promise<Live<PersistentVolumeClaim>> {
  if (STORAGE_PROVISIONERS.every((name) => claim.metadata.annotations?.[name] === provisioner)) return claim
  const annotations = Object.fromEntries(STORAGE_PROVISIONERS.map((name) => [name, provisioner]))
  const announced = await claims.patch(claim, { metadata: { annotations } }, signal)
  const message =
    `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system ` +
    'administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.'
  say(announced, 'Normal', 'ExternalProvisioning', message)
  return announced
}

async function provision(
  parts: Claims,
  claim: Live<PersistentVolumeClaim>,
  volume: PersistentVolume & { readonly metadata: { readonly name: string } },
  signal: AbortSignal,
): Promise<void> {
  const { volumes, folders, sayAsProvisioner } = parts
  const { name } = volume.metadata
  // It is there, and the claim is about to be bound to it.
  if (volumes.known.get('', name) !== undefined) return
  const announced = await announce(parts, claim, LOCAL_PROVISIONER, signal)
  const whose = `${claim.metadata.namespace}/${claim.metadata.name}`
  const begun = `External provisioner is provisioning volume for claim "${whose}"`
  sayAsProvisioner(announced, 'Normal', 'Provisioning', begun)
  try {
    // The folder first: a volume without one could not be used.
    await folders.make(name, signal)
    await volumes.create('', volume, signal)
  } catch (error) {
    if (signal.aborted) throw error
    if (isAlreadyThere(error)) return
    sayAsProvisioner(announced, 'Warning', 'ProvisioningFailed', failure(claim, errorMessage(error)))
    throw error
  }
  sayAsProvisioner(announced, 'Normal', 'ProvisioningSucceeded', `Successfully provisioned volume ${name}`)
}

/** The order of an external resizer: begun, the volume, done. Each pass goes on where the last one was stopped. */
async function expand(
  { clock, claims, volumes, sayAsProvisioner }: Claims,
  claim: Live<PersistentVolumeClaim>,
  { volume, size }: Extract<ClaimStep, { kind: 'expand' }>,
  signal: AbortSignal,
): Promise<void> {
  const amount = { storage: size }
  const condition = { type: 'Resizing', status: 'True', lastTransitionTime: toApiTime(clock.now()) }
  const message = `External resizer is resizing volume ${volume.metadata.name}`
  sayAsProvisioner(claim, 'Normal', 'Resizing', message)
  const begun = await claims.updateStatus(
    {
      ...claim,
      status: {
        ...claim.status,
        conditions: [condition],
        allocatedResources: amount,
        allocatedResourceStatuses: { storage: 'ControllerResizeInProgress' },
      },
    },
    signal,
  )
  await volumes.patch(volume, { spec: { capacity: amount } } as object, signal)
  const { conditions: _, allocatedResourceStatuses: _statuses, ...status } = begun.status ?? {}
  await claims.updateStatus({ ...begun, status: { ...status, capacity: amount } }, signal)
  sayAsProvisioner(claim, 'Normal', 'VolumeResizeSuccessful', 'Resize volume succeeded')
}
