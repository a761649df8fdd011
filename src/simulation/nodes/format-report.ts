/** What the simulation did until a moment. */
export interface SimulationState {
  /** Milliseconds since the start. */
  readonly at: number
  readonly nodes: number
  readonly readyNodes: number
  readonly pods: number
  readonly readyPods: number
  readonly cpuMs: number
  readonly memoryBytes: number
  /** By kind, since the start. */
  readonly requests: ReadonlyMap<string, number>
}

const SHOWN = 6

/** One line: what there is, and what the time between two moments has cost. */
export function formatReport(before: SimulationState, now: SimulationState): string {
  const seconds = Math.max(0.001, (now.at - before.at) / 1000)
  const rates = [...now.requests]
    .map(([kind, count]) => [kind, (count - (before.requests.get(kind) ?? 0)) / seconds] as const)
    .filter(([, rate]) => rate > 0)
    .sort(([, a], [, b]) => b - a)
  const all = rates.reduce((sum, [, rate]) => sum + rate, 0)
  const shown = rates.slice(0, SHOWN).map(([kind, rate]) => `${kind} ${rate.toFixed(1)}`)
  const cores = (now.cpuMs - before.cpuMs) / 1000 / seconds
  const nodes = Math.max(1, now.nodes)
  return [
    `${(now.at / 1000).toFixed(0)} s`,
    `nodes ${now.nodes} (${now.readyNodes} ready)`,
    `pods ${now.pods} (${now.readyPods} ready)`,
    `CPU ${cores.toFixed(2)} cores (${((cores * 1000) / nodes).toFixed(2)} ms/s a node)`,
    `memory ${toMegabytes(now.memoryBytes)} (${(now.memoryBytes / 1024 / nodes).toFixed(0)} kB a node)`,
    `requests ${all.toFixed(1)}/s${shown.length === 0 ? '' : `: ${shown.join(', ')}`}`,
  ].join('; ')
}

/** All requests since the start, by kind. */
export function formatRequests({ requests, at }: Pick<SimulationState, 'requests' | 'at'>): readonly string[] {
  return [...requests].map(
    ([kind, count]) =>
      `  ${kind.padEnd(40)} ${String(count).padStart(8)} ${(count / (at / 1000)).toFixed(2).padStart(9)}/s`,
  )
}

function toMegabytes(bytes: number): string {
  return `${(bytes / 1024 ** 2).toFixed(0)} MB`
}
