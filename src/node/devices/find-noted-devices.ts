import type { ObservedPod } from '../../model/pod/observed-pod.ts'
import type { DeviceAssignments, DevicePlace } from './device-assignments.ts'
import { parseDevicesAnnotation } from './devices-annotation-text.ts'

/** Takes from what runs which devices are in use, for what nothing is recorded of. Gives what it found. */
export function findNotedDevices(
  assignments: Pick<DeviceAssignments, 'get' | 'set' | 'taken'>,
  running: readonly ObservedPod[],
): readonly DevicePlace[] {
  const found: DevicePlace[] = []
  for (const { uid, containers } of running) {
    for (const { name, state, devices = '' } of containers) {
      if (state !== 'running') continue
      for (const [resource, ids] of parseDevicesAnnotation(devices)) {
        const place = { uid, container: name, resource }
        const isNews = ids.length > 0 && assignments.get(place) === undefined
        if (!isNews || ids.some((id) => assignments.taken(resource).has(id))) continue
        // A restart of the container asks the plugin for the same ones.
        assignments.set(place, { kind: 'reserved', ids, open: { fixed: ids, nodes: undefined } })
        found.push(place)
      }
    }
  }
  return found
}
