import type { EndpointSlice } from '../../../model/generated/api-groups.ts'
import type { Endpoints } from '../../../model/generated/core-v1.ts'
import type { ControllerDeps } from '../../engine/controller-deps.ts'
import { createController, createQueue, queueChanges } from '../../engine/controller.ts'
import type { Controller } from '../../engine/controller.ts'
import { parseWorkKey, toKey } from '../../engine/live-object.ts'
import type { Live } from '../../engine/live-object.ts'
import { createObjectEvents } from '../../engine/object-events.ts'
import { computeMirroredGroups } from './compute-mirrored-groups.ts'
import { computeSlicePlan } from './compute-slice-plan.ts'
import type { SliceFrame } from './compute-slice-plan.ts'
import {
  MANAGED_BY_LABEL,
  MIRROR_CONTROLLER,
  SERVICE_NAME_LABEL,
  SKIP_MIRROR_LABEL,
  withoutReserved,
} from './service-labels.ts'
import { writeSlices } from './write-slices.ts'

const LEADER = 'control-plane.alpha.kubernetes.io/leader'
const NOT_COPIED: readonly string[] = [
  'kubectl.kubernetes.io/last-applied-configuration',
  'endpoints.kubernetes.io/last-change-trigger-time',
]

/** Gives Endpoints that a user wrote for a service without a selector the form that readers know today. */
export function createMirroringController(deps: ControllerDeps): Controller {
  const { services, slices, endpoints } = deps
  const queue = createQueue('endpoint-slice-mirroring', deps)
  queueChanges(queue, services)
  queueChanges(queue, endpoints)
  slices.known.onChange((after, before) => {
    const { labels = {}, namespace = '' } = (after ?? before)?.metadata ?? {}
    if (labels[MANAGED_BY_LABEL] === MIRROR_CONTROLLER) queue.add(toKey(namespace, labels[SERVICE_NAME_LABEL] ?? ''))
  })
  const record = createObjectEvents(deps.record, 'endpoint-slice-mirroring-controller', endpoints.kind)
  return createController({
    name: 'endpoint-slice-mirroring',
    queue,
    reads: [services, slices, endpoints],
    reconcile: async (key, signal) => {
      const { namespace, name } = parseWorkKey(key)
      const own = slices.known.in(namespace).filter(({ metadata: { labels = {} } }) => isMirrored(labels, name))
      const object = endpoints.known.get(namespace, name)
      const service = services.known.get(namespace, name)
      if (object === undefined || service === undefined || service.spec.selector !== undefined || isSkipped(object)) {
        await removeAll(deps, own, signal)
        return undefined
      }
      const { groups, invalid, skipped } = computeMirroredGroups(object)
      const plan = computeSlicePlan(frameOf(object), own, groups)
      const isAnyWritten = plan.create.length + plan.update.length + plan.remove.length > 0
      if (isAnyWritten && invalid.length > 0)
        record(
          object,
          'Warning',
          'InvalidIPAddress',
          `Skipped ${invalid.length} invalid IP addresses when mirroring to EndpointSlices`,
        )
      if (isAnyWritten && skipped > 0)
        record(
          object,
          'Warning',
          'TooManyAddressesToMirror',
          `A max of 1000 addresses can be mirrored to EndpointSlices per Endpoints subset. ${skipped} addresses were skipped`,
        )
      await writeSlices(slices, namespace, plan, signal)
      return undefined
    },
  })
}

function isMirrored(labels: Readonly<Record<string, string>>, name: string): boolean {
  return labels[MANAGED_BY_LABEL] === MIRROR_CONTROLLER && labels[SERVICE_NAME_LABEL] === name
}

function isSkipped({ metadata }: Live<Endpoints>): boolean {
  return metadata.labels?.[SKIP_MIRROR_LABEL] === 'true' || metadata.annotations?.[LEADER] !== undefined
}

async function removeAll(
  { slices }: ControllerDeps,
  own: readonly Live<EndpointSlice>[],
  signal: AbortSignal,
): Promise<void> {
  for (const slice of own) await slices.remove(slice, {}, signal)
}

function frameOf({ metadata }: Live<Endpoints>): SliceFrame {
  const { namespace, name, uid, labels, annotations = {} } = metadata
  const copied = Object.fromEntries(Object.entries(annotations).filter(([key]) => !NOT_COPIED.includes(key)))
  return {
    baseName: name,
    namespace,
    owner: { apiVersion: 'v1', kind: 'Endpoints', name, uid, controller: true, blockOwnerDeletion: true },
    labels: { ...withoutReserved(labels), [SERVICE_NAME_LABEL]: name, [MANAGED_BY_LABEL]: MIRROR_CONTROLLER },
    ...(Object.keys(copied).length > 0 && { annotations: copied }),
  }
}
