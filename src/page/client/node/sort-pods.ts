import type { PodRow, PodUse } from '../../messages/page-message.ts'

export type Column = 'name' | 'status' | 'ready' | 'restarts' | 'age' | 'cpu' | 'memory'

export interface Order {
  readonly column: Column
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
  const byName = (a: PodRow, b: PodRow) => a.namespace.localeCompare(b.namespace) || a.name.localeCompare(b.name)
  const by: Readonly<Record<Column, (a: PodRow, b: PodRow) => number>> = {
    name: byName,
    status: (a, b) => a.status.localeCompare(b.status),
    ready: (a, b) => Number(a.isReady) - Number(b.isReady),
    restarts: (a, b) => a.restarts - b.restarts,
    age: (a, b) => b.created.localeCompare(a.created),
    cpu: (a, b) => use(a, 0) - use(b, 0),
    memory: (a, b) => use(a, 1) - use(b, 1),
  }
  const sign = order.isDescending ? -1 : 1
  return found.sort((a, b) => sign * by[order.column](a, b) || byName(a, b))
}

/** Whether a pod is as it should be, still on its way, or not well. */
export function judgePod({ status, phase, isReady }: PodRow): 'good' | 'busy' | 'bad' {
  if (isReady && status === 'Running') return 'good'
  if (phase === 'Succeeded') return 'good'
  if (['Pending', 'ContainerCreating', 'PodInitializing', 'Terminating', 'Running', 'NotReady'].includes(status))
    return 'busy'
  return status.startsWith('Init:') && /^Init:\d/.test(status) ? 'busy' : 'bad'
}
