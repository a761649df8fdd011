import { mergeExtras } from '../../containers/container-extras.ts'
import type { ResourceStatus } from '../../../model/generated/core-v1.ts'
import type { PodExtras } from './pod-extras.ts'

/** Several who add something to containers, as one; asked in their order. */
export function joinExtras(all: readonly PodExtras[]): PodExtras {
  return {
    async ensure(request, signal) {
      for (const each of all) await each.ensure(request, signal)
    },
    async containerExtras(request, signal) {
      const added = []
      for (const each of all) added.push(await each.containerExtras(request, signal))
      return mergeExtras(added)
    },
    health(pod) {
      const joined = new Map<string, readonly ResourceStatus[]>()
      for (const [name, statuses] of all.flatMap((each) => [...each.health(pod)]))
        joined.set(name, [...(joined.get(name) ?? []), ...statuses])
      return joined
    },
    async release(request, signal) {
      for (const each of all) await each.release(request, signal)
    },
  }
}
