import type { NodeUsage, PodUsage, StatsSnapshot } from './stats-snapshot.ts'

/** What was measured in the last hour, in columns: each has an entry for each time, null where it was not there or not measured. */
export interface UsageColumns {
  /** Milliseconds since the epoch. */
  readonly times: readonly number[]
  readonly node: Readonly<Record<NodeMeasure, readonly (number | null)[]>>
  /** By uid. */
  readonly pods: Readonly<Record<string, Readonly<Record<PodMeasure, readonly (number | null)[]>>>>
}

type NodeMeasure = (typeof NODE_MEASURES)[number]
type PodMeasure = (typeof POD_MEASURES)[number]

interface Row {
  readonly at: number
  /** In the order of their names, as are those of each pod. */
  readonly node: Float64Array
  readonly uids: readonly string[]
  readonly pods: Float32Array
}

const NODE_MEASURES = [
  'cpuCores',
  'memoryBytes',
  'memoryTotalBytes',
  'diskBytes',
  'diskTotalBytes',
  'processes',
  'processesMost',
  'cpuPressure',
  'memoryPressure',
  'ioPressure',
] as const
const POD_MEASURES = ['cpuCores', 'memoryBytes'] as const

const LASTS_MS = 3_600_000
// Snapshots come every ten seconds: every third one is enough to see an hour by, and only those have to look at each pod.
const LEAST_APART_MS = 25_000
const NANOS = 1e9

/**
 * What snapshots that were taken anyway said of cpu and memory in the last hour: it measures nothing by itself. Of each pod a few bytes are kept for each time:
 * 100 pods take about 100 kB.
 */
export class UsageHistory {
  #rows: Row[] = []

  /** Whether a snapshot of this time would be kept. */
  isDue(time: number): boolean {
    const last = this.#rows.at(-1)
    return last === undefined || time < last.at || time - last.at >= LEAST_APART_MS
  }

  add({ time, node, pods }: StatsSnapshot): void {
    if (!this.isDue(time)) return
    const last = this.#rows.at(-1)
    // A clock that was set back would mix up the order.
    if (last !== undefined && time < last.at) this.#rows = []
    const row = toRow({ time, node, pods }, last?.uids)
    const from = this.#rows.findIndex(({ at }) => at > time - LASTS_MS)
    this.#rows = from === -1 ? [row] : [...this.#rows.slice(from), row]
  }

  columns(): UsageColumns {
    return toColumns(this.#rows)
  }
}

/** What one snapshot says of cpu and memory. */
export function computeLatestUsage(snapshot: StatsSnapshot): UsageColumns {
  return toColumns([toRow(snapshot, undefined)])
}

function toRow(
  { time, node, pods }: Pick<StatsSnapshot, 'time' | 'node' | 'pods'>,
  before: readonly string[] | undefined,
): Row {
  const known = pods.filter(({ cgroup }) => cgroup !== undefined)
  return {
    at: time,
    node: Float64Array.from(listNode(node)),
    uids: sameOr(
      before,
      known.map(({ uid }) => uid),
    ),
    pods: Float32Array.from(known.flatMap(listPod)),
  }
}

function toColumns(rows: readonly Row[]): UsageColumns {
  const places = rows.map(({ uids }) => new Map(uids.map((uid, index) => [uid, index])))
  const uids = new Set(rows.flatMap((row) => row.uids))
  const podColumn = (uid: string, measure: number) =>
    rows.map((row, index) => {
      const place = places[index]?.get(uid)
      return place === undefined ? null : toKnown(row.pods[place * POD_MEASURES.length + measure])
    })
  return {
    times: rows.map(({ at }) => at),
    node: toRecord(NODE_MEASURES, (_, measure) => rows.map((row) => toKnown(row.node[measure]))),
    pods: toRecord([...uids], (uid) => toRecord(POD_MEASURES, (_, measure) => podColumn(uid, measure))),
  }
}

function listNode({ root, memoryCapacityBytes, fs, processes }: NodeUsage): readonly number[] {
  const { cpu, memory, io } = root.sample
  return [
    toCores(root.nanoCores),
    memory?.workingSetBytes ?? Number.NaN,
    Math.min(memoryCapacityBytes, memory?.limitBytes ?? memoryCapacityBytes),
    fs.capacityBytes - fs.availableBytes,
    fs.capacityBytes,
    processes.count,
    processes.limit,
    cpu?.pressure?.some.avg10 ?? Number.NaN,
    memory?.pressure?.some.avg10 ?? Number.NaN,
    io?.pressure?.some.avg10 ?? Number.NaN,
  ]
}

function listPod({ cgroup }: PodUsage): readonly number[] {
  return [toCores(cgroup?.nanoCores), cgroup?.sample.memory?.workingSetBytes ?? Number.NaN]
}

function toCores(nanoCores: number | undefined): number {
  return (nanoCores ?? Number.NaN) / NANOS
}

function toKnown(value: number | undefined): number | null {
  return value === undefined || !Number.isFinite(value) ? null : Math.round(value * 10_000) / 10_000
}

/** Most of the time the pods are those of the row before, and one list of them is enough. */
function sameOr(before: readonly string[] | undefined, uids: readonly string[]): readonly string[] {
  return before?.length === uids.length && before.every((uid, index) => uid === uids[index]) ? before : uids
}

function toRecord<K extends string, V>(names: readonly K[], valueOf: (name: K, index: number) => V): Record<K, V> {
  return Object.fromEntries(names.map((name, index) => [name, valueOf(name, index)])) as Record<K, V>
}
