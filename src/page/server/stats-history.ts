import type { NodeSample, PodUse, UsageView } from '../messages/page-message.ts'
import type { Sample } from '../messages/compute-sample.ts'

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

  add({ node, pods }: Sample): void {
    const uids = Object.keys(pods)
    const uses = Float32Array.from(Object.values(pods).flatMap(([cpu, memory]) => [toNumber(cpu), toNumber(memory)]))
    this.#rows = [...this.#rows.filter((row) => row.node.at > node.at - LASTS_MS), { node, uids, uses }]
  }

  /** Takes in what the agent has measured, also while no page was open; what came after that stays. */
  prepend({ times, node, pods }: AgentHistory): void {
    const last = times.at(-1)
    if (last === undefined) return
    const uids = Object.keys(pods)
    const known = (values: readonly (number | null)[] | undefined, index: number) => values?.[index] ?? undefined
    const rows = times.map((at, index): Row => {
      const present = uids.filter((uid) => typeof pods[uid]?.['memoryBytes']?.[index] === 'number')
      const use = (uid: string) => [pods[uid]?.['cpuCores']?.[index], pods[uid]?.['memoryBytes']?.[index]].map(toNumber)
      return {
        node: {
          at,
          cpu: known(node['cpuCores'], index),
          memory: known(node['memoryBytes'], index),
          memoryTotal: known(node['memoryTotalBytes'], index),
          disk: known(node['diskBytes'], index),
          diskTotal: known(node['diskTotalBytes'], index),
          processes: known(node['processes'], index),
          processesMost: known(node['processesMost'], index),
          cpuPressure: known(node['cpuPressure'], index),
          memoryPressure: known(node['memoryPressure'], index),
          ioPressure: known(node['ioPressure'], index),
        },
        uids: present,
        uses: Float32Array.from(present.flatMap(use)),
      }
    })
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
