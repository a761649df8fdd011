import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { openSource, writeFromStream } from './file-streams.ts'

const never = new AbortController().signal
let folder: string

before(() => void (folder = mkdtempSync(`${tmpdir()}/streams-`)))
after(() => rmSync(folder, { recursive: true }))

describe('writeFromStream()', () => {
  test('writes a file for its owner alone', async () => {
    await writeFromStream(`${folder}/whole`, Readable.from([Buffer.from('a'), Buffer.from('b')]), never)
    assert.equal(readFileSync(`${folder}/whole`, 'utf8'), 'ab')
    assert.equal(statSync(`${folder}/whole`).mode & 0o777, 0o600)
  })

  test('leaves what was there, and nothing else, when the source fails', async () => {
    const source = Readable.from(
      (async function* () {
        yield Buffer.from('half')
        throw new Error('cut off')
      })(),
    )
    await assert.rejects(writeFromStream(`${folder}/whole`, source, never), { message: 'cut off' })
    assert.equal(readFileSync(`${folder}/whole`, 'utf8'), 'ab')
    assert.deepEqual(readdirSync(folder), ['whole'])
  })
})

describe('openSource()', () => {
  test('opens a file with its size, and no folder', async () => {
    writeFileSync(`${folder}/file`, 'content')
    const source = await openSource(`${folder}/file`)
    assert.equal(source?.sizeBytes, 7)
    assert.equal(await text(source.stream), 'content')
    assert.equal(await openSource(folder), undefined)
  })
})
