import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { readMachine } from '../read-machine.ts'
import { readNumaNodes } from './read-numa-nodes.ts'

interface Recorded {
  readonly id: number
  readonly kilobytes: number
  readonly distance: string
  readonly pages?: number
}

/** A tree as the kernel shows it. */
async function createNodes(t: TestContext, nodes: readonly Recorded[]): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'deckhand-numa-'))
  t.after(() => rm(root, { recursive: true }))
  const files = nodes.flatMap(({ id, kilobytes, distance, pages = 0 }) => [
    [`node${id}/meminfo`, `Node ${id} MemTotal:       ${kilobytes} kB\nNode ${id} MemFree:        1024 kB\n`],
    [`node${id}/distance`, `${distance}\n`],
    [`node${id}/hugepages/hugepages-2048kB/nr_hugepages`, `${pages}\n`],
    [`node${id}/hugepages/hugepages-1048576kB/nr_hugepages`, '0\n'],
  ])
  for (const [path = '', text = ''] of [['online', '0\n'], ['power/control', 'auto\n'], ...files]) {
    await mkdir(dirname(`${root}/${path}`), { recursive: true })
    await writeFile(`${root}/${path}`, text)
  }
  return root
}

const MACHINE = { memoryBytes: 1024n }

const show = (nodes: ReturnType<typeof readNumaNodes>) =>
  nodes.map(
    ({ id, memoryBytes, hugepages, distances }) =>
      `${id}: ${memoryBytes} ${hugepages.map(({ sizeBytes, count }) => `${count}x${sizeBytes}`).join('+')} ${[...distances].map((pair) => pair.join('=')).join(' ')}`,
  )

describe('readNumaNodes()', () => {
  test('reads two nodes with memory, huge pages and distances', async (t) => {
    const folder = await createNodes(t, [
      { id: 0, kilobytes: 1_013_508, distance: '10 20' },
      { id: 1, kilobytes: 1_000_432, distance: '20 10', pages: 16 },
    ])
    assert.deepEqual(show(readNumaNodes(MACHINE, folder)), [
      '0: 1037832192 0x2097152+0x1073741824 0=10 1=20',
      '1: 1024442368 16x2097152+0x1073741824 0=20 1=10',
    ])
  })

  test('reads four nodes of which some are nearer', async (t) => {
    const distances = ['10 12 32 32', '12 10 32 32', '32 32 10 12', '32 32 12 10']
    const folder = await createNodes(
      t,
      distances.map((distance, id) => ({ id, kilobytes: 65_536, distance })),
    )
    const nodes = readNumaNodes(MACHINE, folder)
    assert.deepEqual(
      nodes.map(({ distances: each }) => [...each.values()].join(' ')),
      distances,
    )
  })

  test('reads eight nodes', async (t) => {
    const ids = Array.from({ length: 8 }, (_, id) => id)
    const folder = await createNodes(
      t,
      ids.map((id) => ({
        id,
        kilobytes: 1024 * (id + 1),
        distance: ids.map((other) => (other === id ? 10 : 20)).join(' '),
      })),
    )
    const nodes = readNumaNodes(MACHINE, folder)
    assert.deepEqual(
      nodes.map(({ id, memoryBytes }) => [id, memoryBytes]),
      ids.map((id) => [id, BigInt(id + 1) * 2n ** 20n]),
    )
  })

  test('knows which node a distance belongs to when some are not there', async (t) => {
    const folder = await createNodes(t, [
      { id: 10, kilobytes: 1, distance: '21 10' },
      { id: 2, kilobytes: 1, distance: '10 21' },
    ])
    const nodes = readNumaNodes(MACHINE, folder)
    assert.deepEqual(
      nodes.map(({ id, distances }) => [id, [...distances]]),
      [
        [
          2,
          [
            [2, 10],
            [10, 21],
          ],
        ],
        [
          10,
          [
            [2, 21],
            [10, 10],
          ],
        ],
      ],
    )
  })

  test('takes a kernel without nodes for one', () => {
    const [node, ...others] = readNumaNodes(MACHINE, '/nowhere')
    assert.deepEqual([node?.id, node?.memoryBytes, node?.distances.size, others], [0, 1024n, 0, []])
  })

  test('reads this machine', () => {
    const nodes = readNumaNodes(readMachine())
    assert.ok(nodes.some(({ memoryBytes }) => memoryBytes > 0n))
  })
})
