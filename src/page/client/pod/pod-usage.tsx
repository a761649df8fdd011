import { useMemo } from 'preact/hooks'
import type { Pod } from '../../../model/generated/core-v1.ts'
import { computeBounds } from '../../messages/compute-pod-details.ts'
import type { ResourceBounds } from '../../messages/compute-pod-details.ts'
import type { UsageView } from '../../messages/page-message.ts'
import { formatBytes, formatCores } from '../format.ts'
import type { LiveState } from '../live.ts'
import { Plot } from '../plot.tsx'

interface Point {
  readonly at: number
  readonly cpu: number | null
  readonly memory: number | null
}

const HOUR_MS = 3_600_000

/** What a pod uses over the last hour, with what it requests and may use at most. */
export function PodUsage({
  pod,
  uid,
  state,
  usage,
}: {
  readonly pod: Pod
  readonly uid: string
  readonly state: LiveState
  readonly usage: UsageView | undefined
}) {
  const points = useMemo(() => joinPoints(usage, state, uid), [usage, state.samples, uid])
  const last = points.at(-1)
  const bounds = useMemo(() => ({ cpu: computeBounds(pod, 'cpu'), memory: computeBounds(pod, 'memory') }), [pod])
  return (
    <section class="plots pod-plots" aria-label="What the pod uses, over the last hour">
      <Plot
        title="CPU"
        value={describe(last?.cpu, bounds.cpu, formatCores)}
        samples={points}
        lines={[{ of: ({ cpu }: Point) => cpu, name: 'used' }, ...boundLines(bounds.cpu)]}
        most={undefined}
        format={formatCores}
      />
      <Plot
        title="Memory"
        value={describe(last?.memory, bounds.memory, formatBytes)}
        samples={points}
        lines={[{ of: ({ memory }: Point) => memory, name: 'used' }, ...boundLines(bounds.memory)]}
        most={undefined}
        format={formatBytes}
        isBinary
      />
    </section>
  )
}

/** What was measured until the page asked for it, and what came since then. */
function joinPoints(usage: UsageView | undefined, state: LiveState, uid: string): readonly Point[] {
  const { times = [], cpu = [], memory = [] } = usage ?? {}
  const known = times.map((at, index) => ({ at, cpu: cpu[index] ?? null, memory: memory[index] ?? null }))
  const since = known.at(-1)?.at ?? -Infinity
  const uses = state.uses.get(uid) ?? []
  const times2 = state.samples.slice(-uses.length).map(({ at }) => at)
  const recent = uses.flatMap(([cpuNow, memoryNow], index) => {
    const at = times2[index - (uses.length - times2.length)]
    return at === undefined || at <= since ? [] : [{ at, cpu: cpuNow, memory: memoryNow }]
  })
  const all = [...known, ...recent]
  const end = all.at(-1)?.at ?? Date.now()
  // What it may use is drawn over the whole hour, also while nothing is measured.
  return [...edge(end - HOUR_MS, all[0]?.at), ...all, ...(all.length === 0 ? edge(end, undefined) : [])]
}

/** A point without a measurement, before the first that has one. */
function edge(at: number, before: number | undefined): readonly Point[] {
  return before !== undefined && before <= at ? [] : [{ at, cpu: null, memory: null }]
}

function boundLines({ request, limit }: ResourceBounds) {
  return [
    ...(request === undefined ? [] : [{ of: () => request, name: 'requested', isBound: true }]),
    ...(limit === undefined ? [] : [{ of: () => limit, name: 'limit', isBound: true }]),
  ]
}

function describe(
  used: number | null | undefined,
  { request, limit }: ResourceBounds,
  format: (value: number) => string,
): string {
  const parts = [
    // Beside a legend, which says it too, it would stand there twice.
    request !== undefined || limit !== undefined ? '' : used === undefined || used === null ? '–' : format(used),
    request === undefined ? 'nothing requested' : '',
    limit === undefined ? 'no limit' : '',
  ]
  return parts.filter((part) => part !== '').join(', ')
}
