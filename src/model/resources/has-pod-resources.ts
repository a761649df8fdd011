import type { Pod } from '../pod/pod.ts'

/** Does the pod set CPU or memory resources of its own? Then its containers share them. */
export function hasPodResources({ spec }: Pick<Pod, 'spec'>): boolean {
  const { requests = {}, limits = {} } = spec.resources ?? {}
  return [...Object.keys(requests), ...Object.keys(limits)].some(
    (name) => name === 'cpu' || name === 'memory' || name.startsWith('hugepages-'),
  )
}
