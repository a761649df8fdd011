import type { DiskCost } from '../sampling/cgroup-sample.ts'
import type { DiskCounters } from '../sampling/parse-disk-stats.ts'
import { row } from './cadvisor-row.ts'
import type { CadvisorRow, CadvisorValue } from './cadvisor-row.ts'
import { diskName } from './cadvisor-subjects.ts'
import type { CadvisorSubject } from './cadvisor-subjects.ts'

type Disks = ReadonlyMap<string, DiskCounters>

const MICROS = 1e6

const disksOf = ({ cgroup }: CadvisorSubject) => cgroup.sample.details?.disks ?? []

const bytes = (name: string, help: string, operation: 'Read' | 'Write') =>
  row(`fs_${name}_bytes_total`, help, 'counter', (subject, disks) =>
    disksOf(subject).map((sample) => ({
      value: sample.bytes[operation] ?? 0,
      extra: { device: diskName(disks, sample.device) },
    })),
  )

/** Of the cgroup; and of the disks of file systems, where the cgroup does not count those. */
const operations = (
  name: string,
  help: string,
  { operation, field }: { readonly operation: 'Read' | 'Write'; readonly field: 'reads' | 'writes' },
) =>
  row(`fs_${name}_total`, help, 'counter', (subject, disks) => {
    const own = disksOf(subject).map((sample): CadvisorValue => ({
      value: sample.operations[operation] ?? 0,
      extra: { device: diskName(disks, sample.device) },
    }))
    const counted = new Set(own.map(({ extra }) => extra?.['device']))
    return [...own, ...diskValues(subject, field).filter(({ extra }) => !counted.has(extra?.['device']))]
  })

function diskValues(
  { fileSystems }: CadvisorSubject,
  field: Exclude<keyof DiskCounters, 'name'>,
): readonly CadvisorValue[] {
  return fileSystems.map(({ device, counters }) => ({ value: counters?.[field] ?? 0, extra: { device } }))
}

/** What the kernel counts of a whole disk, but of no cgroup. */
const whole = (
  name: string,
  help: string,
  {
    type = 'counter',
    field,
  }: { readonly type?: CadvisorRow['type']; readonly field: Exclude<keyof DiskCounters, 'name'> },
) => row(`fs_${name}`, help, type, (subject) => diskValues(subject, field))

const cost = (name: keyof DiskCost, help: string) =>
  row(`fs_io_cost_${name}_seconds_total`, help, 'counter', (subject, disks: Disks) =>
    disksOf(subject).flatMap((sample) =>
      sample.cost === undefined
        ? []
        : [{ value: sample.cost[name] / MICROS, extra: { device: diskName(disks, sample.device) } }],
    ),
  )

const space = (name: string, help: string, field: 'inodesFree' | 'inodes' | 'capacityBytes' | 'usedBytes') =>
  row(`fs_${name}`, help, 'gauge', ({ fileSystems }) =>
    fileSystems.map(({ device, usage }) => ({ value: usage[field], extra: { device } })),
  )

/** The metrics of /metrics/cadvisor about disks and file systems. */
export const CADVISOR_DISK_ROWS: readonly CadvisorRow[] = [
  row('blkio_device_usage_total', 'Bytes read from and written to a disk', 'counter', (subject, disks) =>
    disksOf(subject).flatMap((sample) => {
      const [major = '', minor = ''] = sample.device.split(':')
      const extra = { device: diskName(disks, sample.device), major, minor }
      return Object.entries(sample.bytes).map(([operation, value]) => ({ value, extra: { ...extra, operation } }))
    }),
  ),
  space('inodes_free', 'Inodes that are left', 'inodesFree'),
  space('inodes_total', 'Inodes that there are', 'inodes'),
  space('limit_bytes', 'Size of the file system', 'capacityBytes'),
  space('usage_bytes', 'What of the file system is used', 'usedBytes'),
  bytes('reads', 'Bytes read', 'Read'),
  bytes('writes', 'Bytes written', 'Write'),
  operations('reads', 'Reads that were completed', { operation: 'Read', field: 'reads' }),
  operations('writes', 'Writes that were completed', { operation: 'Write', field: 'writes' }),
  whole('sector_reads_total', 'Sectors read', { field: 'sectorsRead' }),
  whole('sector_writes_total', 'Sectors written', { field: 'sectorsWritten' }),
  whole('reads_merged_total', 'Reads that were merged with others', { field: 'readsMerged' }),
  whole('writes_merged_total', 'Writes that were merged with others', { field: 'writesMerged' }),
  whole('read_seconds_total', 'Time in which something was read', { field: 'readSeconds' }),
  whole('write_seconds_total', 'Time in which something was written', { field: 'writeSeconds' }),
  whole('io_current', 'Reads and writes that are in progress', { type: 'gauge', field: 'inProgress' }),
  whole('io_time_seconds_total', 'Time in which the disk was busy', { field: 'busySeconds' }),
  whole('io_time_weighted_seconds_total', 'Time in which the disk was busy, once for each of its operations', {
    field: 'weightedBusySeconds',
  }),
  cost('usage', 'Time of the disk that was used, as the kernel estimates it'),
  cost('wait', 'Time in which it waited for its share of the disk'),
  cost('indebt', 'Time in which it had used more than its share of the disk'),
  cost('indelay', 'Time in which it was held up to pay for the disk'),
]
