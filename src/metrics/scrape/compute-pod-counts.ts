import type { ObservedPod } from '../../model/pod/observed-pod.ts'
import { CONFIG_MIRROR_ANNOTATION, isStaticPod } from '../../model/pod/pod.ts'
import type { Pod } from '../../model/pod/pod.ts'

/** A desired pod. */
export interface DesiredPod {
  readonly pod: Pod
  readonly status: { readonly phase?: string | undefined }
}

/** A pod that has a worker. */
export interface WorkedPod {
  readonly uid: string
  readonly state: 'waiting' | 'syncing' | 'terminating' | 'terminated' | 'gone'
}

/** How many there are, by what the Go kubelet counts them as. */
export interface PodCounts {
  /** "" or "true": whether the node itself has them. */
  readonly desired: Readonly<Record<string, number>>
  /** Those of them that are not over. */
  readonly active: Readonly<Record<string, number>>
  readonly mirror: number
  readonly ephemeralContainers: number
  readonly running: number
  readonly containers: Readonly<Record<string, number>>
  readonly working: readonly WorkingCount[]
}

interface WorkingCount {
  readonly lifecycle: 'sync' | 'terminating' | 'terminated'
  readonly config: 'desired' | 'orphan'
  readonly static: '' | 'true' | 'unknown'
  readonly count: number
}

const LIFECYCLES = {
  waiting: 'sync',
  syncing: 'sync',
  terminating: 'terminating',
  terminated: 'terminated',
  gone: 'terminated',
} as const

export function computePodCounts(
  wanted: readonly DesiredPod[],
  observed: readonly ObservedPod[],
  worked: readonly WorkedPod[],
): PodCounts {
  const active = wanted.filter(({ status }) => status.phase !== 'Succeeded' && status.phase !== 'Failed')
  const containers = observed.flatMap((pod) => pod.containers)
  return {
    desired: countStatic(wanted),
    active: countStatic(active),
    mirror: wanted.filter(({ pod }) => pod.metadata.annotations?.[CONFIG_MIRROR_ANNOTATION] !== undefined).length,
    ephemeralContainers: wanted.reduce((sum, { pod }) => sum + (pod.spec.ephemeralContainers ?? []).length, 0),
    running: observed.filter((pod) => pod.sandboxes.some(({ ready }) => ready)).length,
    containers: Object.fromEntries(
      ['created', 'exited', 'running', 'unknown'].map((state) => [
        state,
        containers.filter((container) => container.state === state).length,
      ]),
    ),
    working: countWorking(wanted, worked),
  }
}

function countStatic(pods: readonly DesiredPod[]): Readonly<Record<string, number>> {
  const own = pods.filter(({ pod }) => isStaticPod(pod)).length
  return { '': pods.length - own, true: own }
}

function countWorking(wanted: readonly DesiredPod[], worked: readonly WorkedPod[]): readonly WorkingCount[] {
  const pods = new Map<string, Pod>(wanted.map(({ pod }) => [pod.metadata.uid, pod]))
  const counts = new Map<string, WorkingCount>()
  for (const { uid, state } of worked) {
    const pod = pods.get(uid)
    const row = {
      lifecycle: LIFECYCLES[state],
      config: pod === undefined ? ('orphan' as const) : ('desired' as const),
      static: pod === undefined ? ('unknown' as const) : isStaticPod(pod) ? ('true' as const) : ('' as const),
    }
    const key = Object.values(row).join('/')
    counts.set(key, { ...row, count: (counts.get(key)?.count ?? 0) + 1 })
  }
  return [...counts.values()]
}
