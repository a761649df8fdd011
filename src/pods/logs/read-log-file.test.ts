import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { LogFile } from '../../system/directories/logs/open-log-file.ts'
import { readNewBytes } from './read-log-file.ts'

const CHUNK_BYTES = 64 * 1024

/** A file that grows, and a record of where it was read. */
function createFile(identity: string, content: Buffer) {
  const reads: number[] = []
  const file: LogFile = {
    identity,
    modifiedAt: 0,
    size: async () => content.length,
    async read(buffer, position) {
      reads.push(position)
      await Promise.resolve()
      return content.copy(buffer, 0, position)
    },
    async [Symbol.asyncDispose]() {},
  }
  return { series: { number: 0, file, compressed: false }, reads }
}

async function readAll(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = []
  for await (const chunk of chunks) all.push(Buffer.from(chunk))
  return Buffer.concat(all)
}

describe('readNewBytes()', () => {
  test('reads once when there is little, and on while there is more', async () => {
    const few = createFile('few', Buffer.from('0123456789'))
    assert.equal(String(await readAll(readNewBytes(few.series, 4))), '456789')
    assert.deepEqual(few.reads, [4])
    const content = Buffer.alloc(CHUNK_BYTES + 1, 'x')
    const many = createFile('many', content)
    assert.deepEqual(await readAll(readNewBytes(many.series, 0)), content)
    assert.deepEqual(many.reads, [0, CHUNK_BYTES])
  })

  test('reads once for all who are at the same place of the same file, and gives nobody what another one read', async () => {
    const a = createFile('a', Buffer.from('of a'))
    const b = createFile('b', Buffer.from('of b'))
    const places = [a, a, b, a].map(({ series }) => readAll(readNewBytes(series, 0)))
    const late = readAll(readNewBytes(a.series, 3))
    assert.deepEqual((await Promise.all([...places, late])).map(String), ['of a', 'of a', 'of b', 'of a', 'a'])
    assert.deepEqual([a.reads, b.reads], [[0, 3], [0]])
    await readAll(readNewBytes(a.series, 0))
    assert.equal(a.reads.length, 3, 'nothing is kept for later')
  })

  test('lets all fail who share what fails, and reads again for the next', async () => {
    const { series } = createFile('c', Buffer.from('of c'))
    const broken = { ...series, file: { ...series.file, read: () => Promise.reject(new Error('EIO')) } }
    const both = [readAll(readNewBytes(broken, 0)), readAll(readNewBytes(series, 0))]
    for (const each of both) await assert.rejects(each, /EIO/)
    assert.equal(String(await readAll(readNewBytes(series, 0))), 'of c')
  })
})
