import type { PersistentVolumeClaim, Pod, Volume } from '../../model/generated/core-v1.ts'
import { claimNameOf, isClaimOfPod } from '../../model/storage/claims-of-pod.ts'
import { toControllerReference } from '../workloads/ownership/claim-children.ts'
import { isAlreadyThere, isNamespaceEnding } from '../engine/api-objects.ts'
import { createController, createQueue, reconcileKnown } from '../engine/controller.ts'
import type { Controller } from '../engine/controller.ts'
import type { ControllerDeps } from '../engine/controller-deps.ts'
import { keyOf } from '../engine/live-object.ts'
import type { Live } from '../engine/live-object.ts'
import { createObjectEvents } from '../engine/object-events.ts'

const POD_KIND = { apiVersion: 'v1', kind: 'Pod', plural: 'pods' }

/** Makes the claims of ephemeral volumes; they go with their pod. */
export function createEphemeralClaimController(deps: ControllerDeps): Controller {
  const { pods, claims } = deps
  const queue = createQueue('ephemeral-claims', deps)
  pods.known.onChange((after) => {
    if (after !== undefined && ephemeralOf(after).length > 0) queue.add(keyOf(after))
  })
  claims.known.onChange((after, before) => {
    if (after !== undefined) return
    for (const pod of pods.known.in(before?.metadata.namespace ?? '')) {
      if (ephemeralOf(pod).some((volume) => claimNameOf(pod, volume) === before?.metadata.name)) queue.add(keyOf(pod))
    }
  })
  const record = createObjectEvents(deps.record, 'ephemeral_volume', pods.kind)
  return createController({
    name: 'ephemeral-claims',
    queue,
    reads: [pods, claims],
    reconcile: reconcileKnown(pods, async (pod, signal) => {
      if (isLeaving(pod)) return undefined
      const { namespace, name } = pod.metadata
      for (const volume of ephemeralOf(pod)) {
        const claimName = claimNameOf(pod, volume) ?? ''
        const claim = claims.known.get(namespace, claimName)
        if (claim === undefined) await create(deps, pod, toClaim(pod, volume), signal)
        else if (!isClaimOfPod(claim, pod)) {
          const why = `PVC ${namespace}/${claimName} was not created for pod ${namespace}/${name} (pod is not owner)`
          record(pod, 'Warning', 'FailedBinding', `ephemeral volume ${volume.name}: ${why}`)
        }
      }
      return undefined
    }),
  })
}

function ephemeralOf({ spec }: Pod): readonly Volume[] {
  return (spec?.volumes ?? []).filter(({ ephemeral }) => ephemeral !== undefined)
}

function isLeaving({ metadata, status }: Live<Pod>): boolean {
  return metadata.deletionTimestamp !== undefined || ['Succeeded', 'Failed'].includes(status?.phase ?? '')
}

async function create(
  { claims }: ControllerDeps,
  { metadata }: Live<Pod>,
  claim: PersistentVolumeClaim,
  signal: AbortSignal,
): Promise<void> {
  try {
    await claims.create(metadata.namespace, claim, signal)
  } catch (error) {
    if (!isAlreadyThere(error) && !isNamespaceEnding(error)) throw error
  }
}

function toClaim(pod: Live<Pod>, volume: Volume): PersistentVolumeClaim {
  const { metadata = {}, spec } = volume.ephemeral?.volumeClaimTemplate ?? { spec: {} }
  const { labels, annotations } = metadata
  return {
    metadata: {
      name: claimNameOf(pod, volume) ?? '',
      ...(labels && { labels }),
      ...(annotations && { annotations }),
      ownerReferences: [toControllerReference(POD_KIND, pod.metadata)],
    },
    spec,
  }
}
