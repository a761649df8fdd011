import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { createOciArchive } from '../oci-archive.ts'
import type { ImageArchives } from './image-archives.ts'
import { loadArchive } from './load-archive.ts'

const archive = createOciArchive([{ name: 'r.test/tool:1', files: [] }], 'amd64')

function load(content: Buffer, take: (stream: Readable) => Promise<void>, signal = new AbortController().signal) {
  const archives = { load: take } as unknown as ImageArchives
  const seen: number[] = []
  const request = {
    stream: Readable.from([content.subarray(0, 100), content.subarray(100)]),
    sizeBytes: content.length,
    what: '"tool.tar"',
    name: undefined,
    onProgress: (done: number) => void seen.push(done),
  }
  return { loaded: loadArchive(archives, request, signal), seen }
}

describe('loadArchive()', () => {
  for (const [how, content] of [
    ['plain', archive],
    ['gzip', gzipSync(archive)],
    ['zstd', zstdCompressSync(archive)],
  ] as const) {
    test(`gives the runtime the plain archive: ${how}`, async () => {
      let taken: Buffer | undefined
      const { loaded, seen } = load(content, async (stream) => void (taken = await buffer(stream)))
      assert.deepEqual(await loaded, ['r.test/tool:1'])
      assert.deepEqual(taken, archive)
      assert.equal(seen.at(-1), content.length)
    })
  }

  test('says what is wrong with the archive, not what the runtime makes of half of it', async () => {
    const take = async (stream: Readable) => {
      await buffer(stream).catch(() => undefined)
      throw new Error('unexpected EOF')
    }
    const { loaded } = load(archive.subarray(0, 2000), take)
    await assert.rejects(loaded, { name: 'NodeError', message: 'Cannot load images from "tool.tar": it is cut off' })
  })

  test('says what the runtime says when that does not read to the end', async () => {
    const take = async (stream: Readable) => {
      stream.destroy()
      throw new Error('no space left on device')
    }
    await assert.rejects(load(archive, take).loaded, {
      message: 'Cannot load images from "tool.tar": no space left on device',
    })
  })

  test('ends with the signal', async () => {
    const stop = new AbortController()
    const take = (_stream: Readable) => new Promise<void>((_, reject) => setImmediate(reject, new Error('ended')))
    const { loaded } = load(archive, take, stop.signal)
    stop.abort(new Error('stopped'))
    await assert.rejects(loaded, { message: 'stopped' })
  })
})
