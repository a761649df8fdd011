import type { Pod } from '../../model/pod/pod.ts'

/** Does the pod say itself what it needs of CPUs or memory? Then its containers share all of it. */
export function hasPodResources({ spec }: Pod): boolean {
  const { requests = {}, limits = {} } = spec.resources ?? {}
  return [...Object.keys(requests), ...Object.keys(limits)].some(
    (name) => name === 'cpu' || name === 'memory' || name.startsWith('hugepages-'),
  )
}
