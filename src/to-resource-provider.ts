import type { ResourceProvider } from './admission/resource-provider.ts'
import type { HintProvider } from './resources/placement/hint-provider.ts'

/** One who gives to single containers, as admission sees it: wherever in the machine that is. */
export function toResourceProvider(provider: HintProvider): ResourceProvider {
  const anywhere = { nodes: undefined, preferred: true }
  return {
    admit(pod) {
      for (const container of [...(pod.spec.initContainers ?? []), ...pod.spec.containers]) {
        const rejection = provider.allocate(pod, container, anywhere)
        if (rejection !== undefined) return rejection
      }
      return undefined
    },
    release: (uid) => provider.release(uid),
  }
}
