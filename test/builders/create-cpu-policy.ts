import { formatCpuSet, parseCpuSet } from '../../src/model/resources/cpu-set.ts'
import type { Container } from '../../src/model/generated/core-v1.ts'
import { parsePodUid } from '../../src/model/pod/pod.ts'
import type { Pod } from '../../src/model/pod/pod.ts'
import type { CpuPolicy, CpuPolicyOptions } from '../../src/node/cpus/cpu-policy.ts'
import type { CpuAssignmentTable, CpuState } from '../../src/node/cpus/cpu-state.ts'
import type { CpuTopology } from '../../src/node/cpus/cpu-topology.ts'
import { createContainer, createPod } from './create-pod.ts'

/** The static policy with these options on. */
export function createTestPolicy(
  topology: CpuTopology,
  reserved: string,
  options: Partial<CpuPolicyOptions> = {},
): CpuPolicy {
  const off = {
    fullCoresOnly: false,
    strictReservation: false,
    byUncoreCache: false,
    acrossNumaNodes: false,
    acrossCores: false,
    alignBySocket: false,
    podLevel: 'off' as const,
  }
  return { topology, reserved: new Set(parseCpuSet(reserved)), options: { ...off, ...options } }
}

/** "<shared> <uid>.<container>=<cpus> …" */
export function showCpuState({ shared, assignments }: CpuState): string {
  const entries = [...assignments].flatMap(([uid, containers]) =>
    [...containers].map(([name, cpus]) => `${uid}.${name}=${formatCpuSet(cpus)}`),
  )
  return [formatCpuSet(shared), ...entries].join(' ')
}

export function toTable(table: Readonly<Record<string, Readonly<Record<string, string>>>>): CpuAssignmentTable {
  return new Map(
    Object.entries(table).map(([uid, containers]) => [
      parsePodUid(uid),
      new Map(Object.entries(containers).map(([name, cpus]) => [name, new Set(parseCpuSet(cpus))])),
    ]),
  )
}

/** A container that has what it asks for as its limit. */
function createPinnedContainer(name: string, cpu: string, parts: Partial<Container> = {}): Container {
  const all = { cpu, memory: '64Mi' }
  return createContainer({ name, resources: { requests: all, limits: all }, ...parts })
}

/** A Guaranteed pod; "init:2 side:1 main:1" are its containers with the CPUs they ask for, by the beginning of their names. */
export function createPinnedPod(uid: string, containers: string): Pod {
  const all = containers.split(' ').map((text) => {
    const [name = '', cpu = ''] = text.split(':')
    return createPinnedContainer(name, cpu, name.startsWith('side') ? { restartPolicy: 'Always' } : {})
  })
  const isInit = ({ name }: Container) => name.startsWith('init') || name.startsWith('side')
  return createPod({
    metadata: { uid, name: uid },
    spec: { initContainers: all.filter(isInit), containers: all.filter((container) => !isInit(container)) },
  })
}
