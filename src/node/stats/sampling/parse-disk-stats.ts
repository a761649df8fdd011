/** What went to and from one disk or partition since the machine was started. */
export interface DiskCounters {
  readonly name: string
  readonly reads: number
  readonly readsMerged: number
  readonly sectorsRead: number
  readonly readSeconds: number
  readonly writes: number
  readonly writesMerged: number
  readonly sectorsWritten: number
  readonly writeSeconds: number
  readonly inProgress: number
  readonly busySeconds: number
  readonly weightedBusySeconds: number
}

const MILLIS = 1000

/** Lines of /proc/diskstats, by their numbers: 253:0. */
export function parseDiskStats(text: string | undefined): ReadonlyMap<string, DiskCounters> {
  const lines = (text ?? '').split('\n').map((line) => line.trim().split(/\s+/))
  return new Map(
    lines.flatMap(([major, minor, name, ...values]) => {
      const at = (index: number) => Number(values[index] ?? 0)
      if (name === undefined) return []
      return [
        [
          `${major}:${minor}`,
          {
            name,
            reads: at(0),
            readsMerged: at(1),
            sectorsRead: at(2),
            readSeconds: at(3) / MILLIS,
            writes: at(4),
            writesMerged: at(5),
            sectorsWritten: at(6),
            writeSeconds: at(7) / MILLIS,
            inProgress: at(8),
            busySeconds: at(9) / MILLIS,
            weightedBusySeconds: at(10) / MILLIS,
          },
        ],
      ]
    }),
  )
}
