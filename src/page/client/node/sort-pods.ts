import type { PodRow, PodUse } from '../../messages/page-message.ts'

export type PodColumn = 'name' | 'status' | 'ready' | 'restarts' | 'age' | 'cpu' | 'memory'

export interface Order {
  readonly column: PodColumn
  readonly isDescending: boolean
}

/** The pods that have all words of the filter somewhere, in order. */
export function selectPods(
  pods: Iterable<PodRow>,
  { filter, order }: { readonly filter: string; readonly order: Order },
  {
    uses,
    sentences,
  }: { readonly uses: ReadonlyMap<string, readonly PodUse[]>; readonly sentences: ReadonlyMap<string, string> },
): readonly PodRow[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean)
  const found = [...pods].filter((pod) => {
    if (words.length === 0) return true
    const text =
      `${pod.namespace}/${pod.name} ${pod.status} ${pod.address} ${sentences.get(pod.uid) ?? pod.note}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
  const use = ({ uid }: PodRow, index: 0 | 1) => uses.get(uid)?.at(-1)?.[index] ?? -1
  const by: Readonly<Record<PodColumn, (a: PodRow, b: PodRow) => number>> = {
    name: byName,
    status: (a, b) => compareText(a.status, b.status),
    ready: (a, b) => Number(a.isReady) - Number(b.isReady),
    restarts: (a, b) => a.restarts - b.restarts,
    age: (a, b) => compareText(b.created, a.created),
    cpu: (a, b) => use(a, 0) - use(b, 0),
    memory: (a, b) => use(a, 1) - use(b, 1),
  }
  const sign = order.isDescending ? -1 : 1
  return found.sort((a, b) => sign * by[order.column](a, b) || byName(a, b))
}

function byName(a: PodRow, b: PodRow): number {
  return compareText(a.namespace, b.namespace) || compareText(a.name, b.name)
}

// Names are letters of no language, and the order of a language takes many times as long.
function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Whether a pod is as it should be, still on its way, or not well. */
export function judgePod({ status, phase, isReady }: PodRow): 'good' | 'busy' | 'bad' {
  if (isReady && status === 'Running') return 'good'
  if (phase === 'Succeeded') return 'good'
  if (['Pending', 'ContainerCreating', 'PodInitializing', 'Terminating', 'Running', 'NotReady'].includes(status))
    return 'busy'
  return status.startsWith('Init:') && /^Init:\d/.test(status) ? 'busy' : 'bad'
}
