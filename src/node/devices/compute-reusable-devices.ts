import { isSidecar } from '../../model/pod/pod-containers.ts'
import type { Pod } from '../../model/pod/pod.ts'

/**
 * The devices of a pod that a container may have again: those of init containers that end before it starts, without what sidecars and
 * containers before it have of them.
 */
export function computeReusableDevices(
  { spec }: Pod,
  container: string,
  idsOf: (container: string) => readonly string[],
): readonly string[] {
  const reusable = new Set<string>()
  for (const each of spec.initContainers ?? []) {
    if (each.name === container) return [...reusable].sort()
    for (const id of idsOf(each.name)) {
      if (isSidecar(each)) reusable.delete(id)
      else reusable.add(id)
    }
  }
  for (const each of spec.containers) {
    if (each.name === container) break
    for (const id of idsOf(each.name)) reusable.delete(id)
  }
  return [...reusable].sort()
}
