import { CADVISOR_TABLE } from './cadvisor-table.ts'
import type { CadvisorRow } from './cadvisor-row.ts'
import { listCadvisorSubjects } from './cadvisor-subjects.ts'
import type { CadvisorSubject } from './cadvisor-subjects.ts'
import { formatLabels } from './stats-family.ts'
import type { StatsFamily, MetricSample } from './stats-family.ts'
import { computeMachineMetrics } from './compute-machine-metrics.ts'
import type { MachineIdentity } from './compute-machine-metrics.ts'
import type { StatsSnapshot } from '../stats-snapshot.ts'

/** The metrics of /metrics/cadvisor, one family after the other; undefined when the node could not be measured. */
export function* computeCadvisorMetrics(
  snapshot: StatsSnapshot | undefined,
  machine: MachineIdentity,
): Generator<StatsFamily> {
  if (snapshot?.runtimeFamilies !== undefined) {
    yield* snapshot.runtimeFamilies
    return yield* computeMachineMetrics(machine)
  }
  const { kernelVersion, osImage: osVersion } = machine
  const version = { cadvisorRevision: '', cadvisorVersion: '', dockerVersion: '', kernelVersion, osVersion }
  yield single('cadvisor_version_info', 'Kernel and system of the node', formatLabels(version), 1)
  yield single(
    'container_scrape_error',
    '1 if there was an error while getting container metrics, 0 otherwise',
    '',
    snapshot === undefined ? 1 : 0,
  )
  if (snapshot !== undefined) {
    const subjects = listCadvisorSubjects(snapshot)
    for (const row of CADVISOR_TABLE) yield toFamily(row, subjects, snapshot.node.disks)
  }
  yield* computeMachineMetrics(machine)
}

function toFamily(
  row: CadvisorRow,
  subjects: readonly CadvisorSubject[],
  disks: StatsSnapshot['node']['disks'],
): StatsFamily {
  const { name, help, type, isTimed } = row
  const samples: MetricSample[] = []
  for (const subject of subjects) {
    for (const { value, extra } of row.values(subject, disks)) {
      if (value === undefined) continue
      const labels = extra === undefined ? subject.labels : formatLabels({ ...subject.base, ...extra })
      samples.push(isTimed ? { labels, value, time: subject.cgroup.time } : { labels, value })
    }
  }
  return { name, help, type, samples }
}

function single(name: string, help: string, labels: string, value: number): StatsFamily {
  return { name, help, type: 'gauge', samples: [{ labels, value }] }
}
