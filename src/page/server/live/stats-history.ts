import type { NodeSample, PodUse, UsageView } from '../../messages/page-message.ts'
import type { Sample } from '../../messages/compute-sample.ts'

/** What the agent has measured in the last hour, as in its /stats/history: columns with an entry for each time. */
export interface AgentHistory {
  readonly times: readonly number[]
  readonly node: Readonly<Record<string, readonly (number | null)[]>>
  readonly pods: Readonly<Record<string, Readonly<Record<string, readonly (number | null)[]>>>>
}

interface Row {
  readonly node: NodeSample
  readonly uids: readonly string[]
  /** Two numbers for each pod. */
  readonly uses: Float32Array
}

const LASTS_MS = 3_600_000
/** What a sparkline shows. */
const POD_POINTS = 30

/** What the node and its pods used in the last hour. */
export class StatsHistory {
  #rows: readonly Row[] = []

  add(sample: Sample): void {
    this.#rows = [...this.#rows.filter((row) => row.node.at > sample.node.at - LASTS_MS), toRow(sample)]
  }

  /** Takes in what the agent has measured, also while no page was open; what came after that stays. */
  prepend(history: AgentHistory): void {
    const last = history.times.at(-1)
    if (last === undefined) return
    const rows = history.times.map((_, index) => toRow(toSample(history, index)))
    this.#rows = [...rows, ...this.#rows.filter((row) => row.node.at > last)]
  }

  get node(): readonly NodeSample[] {
    return this.#rows.map((row) => row.node)
  }

  /** The last minutes of the pods that were there at the end. */
  get pods(): Readonly<Record<string, readonly PodUse[]>> {
    const rows = this.#rows.slice(-POD_POINTS)
    const found = (rows.at(-1)?.uids ?? []).map((uid): [string, readonly PodUse[]] => [
      uid,
      rows.flatMap((row) => readUse(row, uid) ?? []),
    ])
    return Object.fromEntries(found)
  }

  /** One pod over the last hour. */
  ofPod(uid: string): Pick<UsageView, 'times' | 'cpu' | 'memory'> {
    const found = this.#rows.flatMap((row) => {
      const use = readUse(row, uid)
      return use === undefined ? [] : [{ at: row.node.at, use: use[0] }]
    })
    return {
      times: found.map(({ at }) => at),
      cpu: found.map(({ use }) => use[0]),
      memory: found.map(({ use }) => use[1]),
    }
  }
}

/** What the agent measured at one of its times. */
export function toSample({ times, node, pods }: AgentHistory, index: number): Sample {
  const known = (measure: string) => node[measure]?.[index] ?? undefined
  const uses = Object.entries(pods).flatMap(([uid, measures]): [string, PodUse][] => {
    const memory = measures['memoryBytes']?.[index]
    return typeof memory === 'number' ? [[uid, [measures['cpuCores']?.[index] ?? null, memory]]] : []
  })
  return {
    node: {
      at: times[index] ?? 0,
      cpu: known('cpuCores'),
      memory: known('memoryBytes'),
      memoryTotal: known('memoryTotalBytes'),
      disk: known('diskBytes'),
      diskTotal: known('diskTotalBytes'),
      processes: known('processes'),
      processesMost: known('processesMost'),
      cpuPressure: known('cpuPressure'),
      memoryPressure: known('memoryPressure'),
      ioPressure: known('ioPressure'),
    },
    pods: Object.fromEntries(uses),
  }
}

function toRow({ node, pods }: Sample): Row {
  const uses = Float32Array.from(Object.values(pods).flatMap(([cpu, memory]) => [toNumber(cpu), toNumber(memory)]))
  return { node, uids: Object.keys(pods), uses }
}

/** In a list, for flatMap; undefined when the pod was not there. */
function readUse({ uids, uses }: Row, uid: string): readonly [PodUse] | undefined {
  const index = uids.indexOf(uid)
  return index === -1 ? undefined : [[toKnown(uses[2 * index]), toKnown(uses[2 * index + 1])]]
}

function toNumber(value: number | null | undefined): number {
  return value ?? Number.NaN
}

function toKnown(value: number | undefined): number | null {
  return value === undefined || Number.isNaN(value) ? null : Math.round(value * 10_000) / 10_000
}
