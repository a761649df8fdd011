import type { Container } from '../../src/model/generated/core-v1.ts'
import { parsePodUid } from '../../src/model/pod/pod.ts'
import type { Pod } from '../../src/model/pod/pod.ts'
import { createMemoryPolicy } from '../../src/node/memory/create-memory-policy.ts'
import type { MachineMemory, MemoryAssignmentTable, MemoryPolicy } from '../../src/node/memory/memory-state.ts'
import { createContainer, createPod } from './create-pod.ts'
import { toNodes } from './placement-hints.ts'

const GIB = 2n ** 30n

/** Nodes with so many GiB for containers; one more of the first is reserved, and some nodes have 1 GiB of huge pages besides. */
export function createTestMemory(sizes: readonly number[], withPages: readonly number[] = []): MemoryPolicy {
  return createMemoryPolicy({
    nodes: sizes.map((size, id) => {
      const pages = withPages.includes(id) ? 512n : 0n
      const memoryBytes = (BigInt(size) + (id === 0 ? 1n : 0n)) * GIB + pages * 2n * 2n ** 20n
      return { id, memoryBytes, hugepages: [{ sizeBytes: 2n * 2n ** 20n, count: pages }] }
    }),
    reservedMemory: [{ numaNode: 0, limits: { memory: '1Gi' } }],
    reserved: new Map([['memory', GIB]]),
  })
}

/** "a: main=0:4 b: main=0,1:8": pods, their containers, nodes, and GiB. */
export function toMemoryTable(text: string): MemoryAssignmentTable {
  const table = new Map<ReturnType<typeof parsePodUid>, Map<string, MemoryBlocks>>()
  let containers = new Map<string, MemoryBlocks>()
  for (const word of text.split(' ').filter(Boolean)) {
    const [, uid] = /^(.*):$/.exec(word) ?? []
    const [, name = '', nodes = '', size = ''] = /^(.*)=(.*):(.*)$/.exec(word) ?? []
    if (uid === undefined) containers.set(name, [{ nodes: toNodes(nodes), type: 'memory', size: BigInt(size) * GIB }])
    else table.set(parsePodUid(uid), (containers = new Map<string, MemoryBlocks>()))
  }
  return table
}

type MemoryBlocks = readonly { readonly nodes: ReadonlySet<number>; readonly type: string; readonly size: bigint }[]

/** The same the other way round; other kinds than memory have a name. */
export function showMemoryTable(table: MemoryAssignmentTable): string {
  return [...table]
    .flatMap(([uid, containers]) => [
      `${uid}:`,
      ...[...containers].map(([name, blocks]) => `${name}=${blocks.map(showBlock).join('+')}`),
    ])
    .join(' ')
}

function showBlock({ nodes, type, size }: MemoryBlocks[number]): string {
  return `${type === 'memory' ? '' : `${type}@`}${[...nodes].join(',')}:${Number(size) / Number(GIB)}`
}

/** "0:4/10 …": what of the memory of each node is free, of how much. */
export function showFree(machine: MachineMemory): string {
  return [...machine]
    .map(([node, { kinds }]) => {
      const { free = 0n, allocatable = 0n } = kinds.get('memory') ?? {}
      return `${node}:${Number(free) / Number(GIB)}/${Number(allocatable) / Number(GIB)}`
    })
    .join(' ')
}

/** A Guaranteed pod; "init:2 side:1 main:4+1" are its containers with the GiB of memory and of huge pages that they ask for. */
export function createMemoryPod(uid: string, containers: string): Pod {
  const all = containers.split(' ').map((text) => {
    const [name = '', amounts = ''] = text.split(':')
    const [memory = '', pages] = amounts.split('+')
    const resources = {
      cpu: '500m',
      memory: `${memory}Gi`,
      ...(pages === undefined ? {} : { 'hugepages-2Mi': `${pages}Gi` }),
    }
    return createContainer({
      name,
      resources: { requests: resources, limits: resources },
      ...(name.startsWith('side') ? { restartPolicy: 'Always' } : {}),
    })
  })
  const isInit = ({ name }: Container) => name.startsWith('init') || name.startsWith('side')
  return createPod({
    metadata: { uid, name: uid },
    spec: { initContainers: all.filter(isInit), containers: all.filter((container) => !isInit(container)) },
  })
}
