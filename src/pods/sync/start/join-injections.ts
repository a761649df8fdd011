import { mergeInjections } from '../../containers/container-injections.ts'
import type { ResourceStatus } from '../../../model/generated/core-v1.ts'
import type { PodInjections } from './pod-injections.ts'

/** Several providers as one; asked in their order. */
export function joinInjections(all: readonly PodInjections[]): PodInjections {
  return {
    async ensure(request, signal) {
      for (const each of all) await each.ensure(request, signal)
    },
    async containerInjections(request, signal) {
      const added = []
      for (const each of all) added.push(await each.containerInjections(request, signal))
      return mergeInjections(added)
    },
    rejectLost(pod) {
      return all.map((each) => each.rejectLost(pod)).find((end) => end !== undefined)
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
