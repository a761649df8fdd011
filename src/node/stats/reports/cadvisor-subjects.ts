import type { FileSystemUsage } from '../../../system/files/file-usage.ts'
import { formatLabels } from './stats-family.ts'
import type { DiskCounters } from '../sampling/parse-disk-stats.ts'
import type { InterfaceCounters } from '../sampling/parse-net-dev.ts'
import type { CgroupUsage, StatsSnapshot } from '../stats-snapshot.ts'

/** Something that has a cgroup, with what cAdvisor's metrics say of it. */
export interface CadvisorSubject {
  readonly base: Readonly<Record<string, string>>
  /** The same, written. */
  readonly labels: string
  readonly cgroup: CgroupUsage
  readonly startedAt: number
  readonly interfaces: readonly InterfaceCounters[]
  readonly fileSystems: readonly {
    readonly device: string
    readonly usage: FileSystemUsage
    /** What went to and from its disk; undefined when it has none of its own. */
    readonly counters: DiskCounters | undefined
  }[]
  /** Of the machine, which is what limits its root. */
  readonly capacity: { readonly memoryBytes: number; readonly swapBytes: number } | undefined
}

interface Named {
  readonly name?: string
  readonly image?: string
  readonly container?: string
  readonly pod?: string
  readonly namespace?: string
}

type Extra = Partial<Pick<CadvisorSubject, 'startedAt' | 'interfaces' | 'fileSystems' | 'capacity'>>

/** The machine, the cgroups of all pods and of their classes, each pod, and what runs in it. */
export function listCadvisorSubjects({ node, pods }: StatsSnapshot): readonly CadvisorSubject[] {
  const startedAt = node.startedAt
  const capacity = { memoryBytes: node.memoryCapacityBytes, swapBytes: node.swap.capacityBytes }
  const root = { startedAt, interfaces: node.interfaces, fileSystems: [toFileSystem(node)], capacity }
  const groups = [...node.system.map(({ cgroup }) => cgroup), ...node.qos]
  return [
    toSubject(node.root, {}, root),
    ...groups.map((cgroup) => toSubject(cgroup, {}, { startedAt })),
    ...pods.flatMap((pod) => {
      const { name, namespace, sandbox, createdAt, interfaces = [] } = pod
      const whose = { pod: name, namespace }
      const network = { interfaces, startedAt: createdAt }
      return [
        ...(pod.cgroup === undefined ? [] : [toSubject(pod.cgroup, whose, { startedAt: createdAt })]),
        // What a pod sends and receives is reported for its sandbox.
        ...(sandbox?.cgroup === undefined ? [] : [toSubject(sandbox.cgroup, { ...whose, name: sandbox.id }, network)]),
        ...pod.containers.flatMap((container) => {
          const { id, image, cgroup } = container
          const named = { ...whose, name: id, image, container: container.name }
          return cgroup === undefined ? [] : [toSubject(cgroup, named, container)]
        }),
      ]
    }),
  ]
}

function toSubject(cgroup: CgroupUsage, named: Named, extra: Extra): CadvisorSubject {
  const { name = '', image = '', container = '', pod = '', namespace = '' } = named
  const base = { id: cgroup.path, name, image, container, pod, namespace }
  const { startedAt = 0, interfaces = [], fileSystems = [], capacity } = extra
  return { base, labels: formatLabels(base), cgroup, startedAt, interfaces, fileSystems, capacity }
}

function toFileSystem({ fs, disks }: StatsSnapshot['node']): CadvisorSubject['fileSystems'][number] {
  return { device: diskName(disks, fs.device), usage: fs, counters: disks.get(fs.device) }
}

/** As in /dev/vda; the numbers of one that has no name here. */
export function diskName(disks: ReadonlyMap<string, DiskCounters>, device: string): string {
  const name = disks.get(device)?.name
  return name === undefined ? device : `/dev/${name}`
}
