import type { PodStatus } from '../../../model/generated/core-v1.ts'
import { isStaticPod } from '../../../model/pod/pod.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import type { KnownStart } from '../../../metrics/pod-start-metrics.ts'

interface Span {
  readonly from: number
  readonly to: number
}

/**
 * Times the start of a pod of the API as its users see it: from when it was made until the API says that all its containers run. Pods that were there
 * before this agent, and those that no node had room for at first, do not count.
 */
export class PodStartup {
  #isCounted: boolean
  readonly #pulls: Span[] = []

  constructor(pod: Pod | undefined) {
    this.#isCounted = pod !== undefined && !isStaticPod(pod) && pod.status?.startTime === undefined
  }

  /** Waits for an image, and remembers how long that took. All times are in milliseconds since the epoch. */
  async pulled<T>(now: () => number, pull: Promise<T>): Promise<T> {
    if (!this.#isCounted) return await pull
    const from = now()
    try {
      return await pull
    } finally {
      this.#pulls.push({ from, to: now() })
    }
  }

  /** The newest status in the API; returns how long the start took when this is the first that shows it. */
  noteApi(pod: Pod, now: number): KnownStart | undefined {
    if (!this.#isCounted) return undefined
    const { status = {} } = pod
    if (status.phase === 'Succeeded' || status.phase === 'Failed' || isUnschedulable(status)) {
      this.#isCounted = false
      return undefined
    }
    const madeAt = Date.parse(pod.metadata.creationTimestamp ?? '')
    if (!hasStarted(status) || !Number.isFinite(madeAt)) return undefined
    this.#isCounted = false
    const totalMs = Math.max(0, now - madeAt)
    const ownMs = Math.max(0, totalMs - sumSpans(this.#pulls) - sumSpans(listInitSpans(status)))
    return {
      totalSeconds: totalMs / 1000,
      sliSeconds: isStateful(pod) ? undefined : ownMs / 1000,
      hasNetwork: pod.spec.hostNetwork !== true,
    }
  }
}

function hasStarted({ containerStatuses = [] }: PodStatus): boolean {
  return containerStatuses.length > 0 && containerStatuses.every(({ state }) => state?.running?.startedAt !== undefined)
}

function isUnschedulable({ conditions = [] }: PodStatus): boolean {
  return conditions.some(({ type, status }) => type === 'PodScheduled' && status === 'False')
}

function listInitSpans({ initContainerStatuses = [] }: PodStatus): readonly Span[] {
  return initContainerStatuses.flatMap(({ state }) => {
    const from = Date.parse(state?.terminated?.startedAt ?? '')
    const to = Date.parse(state?.terminated?.finishedAt ?? '')
    return to >= from ? [{ from, to }] : []
  })
}

/** Time in which several go on at once counts once. */
function sumSpans(spans: readonly Span[]): number {
  let sum = 0
  let end = -Infinity
  for (const { from, to } of [...spans].sort((a, b) => a.from - b.from)) {
    sum += Math.max(0, to - Math.max(from, end))
    end = Math.max(end, to)
  }
  return sum
}

/** It has a volume whose content is neither the node's nor the API's. */
function isStateful({ spec: { volumes = [] } }: Pod): boolean {
  const own = ['secret', 'configMap', 'downwardAPI', 'emptyDir', 'projected'] as const
  return volumes.some((volume) => own.every((kind) => volume[kind] === undefined))
}
