import assert from 'node:assert/strict'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { StrippedSources } from './stripped-sources.ts'

/** Sources in a folder of their own, and each start of a program with them: what it reads, and what it had to strip for that. */
function createWorld(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), 'deckhand-stripped-'))
  t.after(() => rmSync(root, { recursive: true }))
  const [folder, pack] = [join(root, 'src'), join(root, '.cache/sources')]
  mkdirSync(folder)
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  const start = (...names: readonly string[]) => {
    const stripped: string[] = []
    const strip = (text: string) => {
      stripped.push(text)
      return text.toUpperCase()
    }
    const sources = new StrippedSources({ folder, file: pack, strip })
    const texts = names.map((name) => sources.read(name))
    sources.write()
    return { texts, stripped }
  }
  write('a.ts', 'a')
  write('b.ts', 'b → ü')
  return { root, folder, pack, write, start }
}

describe('StrippedSources', () => {
  test('strips a file once, whatever its characters', (t) => {
    const { start } = createWorld(t)
    assert.deepEqual(start('a.ts', 'b.ts'), { texts: ['A', 'B → Ü'], stripped: ['a', 'b → ü'] })
    assert.deepEqual(start('b.ts', 'a.ts'), { texts: ['B → Ü', 'A'], stripped: [] })
  })

  test('strips what was changed, and what another program needs', (t) => {
    const { folder, start, write } = createWorld(t)
    start('a.ts')
    assert.deepEqual(start('a.ts', 'b.ts').stripped, ['b → ü'])
    write('a.ts', 'longer')
    assert.deepEqual(start('a.ts', 'b.ts'), { texts: ['LONGER', 'B → Ü'], stripped: ['longer'] })
    utimesSync(join(folder, 'b.ts'), 1, 1)
    assert.deepEqual(start('a.ts', 'b.ts').stripped, ['b → ü'])
    assert.deepEqual(start('a.ts', 'b.ts').stripped, [])
  })

  test('forgets files that are gone', (t) => {
    const { folder, pack, start, write } = createWorld(t)
    start('a.ts', 'b.ts')
    rmSync(join(folder, 'b.ts'))
    write('c.ts', 'c')
    start('c.ts')
    assert.doesNotMatch(readFileSync(pack, 'utf8'), /b\.ts|→/)
    assert.throws(() => start('b.ts'), { code: 'ENOENT' })
  })

  test('uses no pack that is broken or of others, and replaces it', (t) => {
    const { folder, pack, start } = createWorld(t)
    const spoil: readonly (() => void)[] = [
      () => truncateSync(pack, statSync(pack).size - 1),
      () => truncateSync(pack, 3),
      () => writeFileSync(pack, ''),
      () => writeFileSync(pack, readFileSync(pack, 'utf8').replace(process.version, 'v1.0.0')),
      () => writeFileSync(pack, readFileSync(pack, 'utf8').replace(folder, '/moved')),
    ]
    for (const each of spoil) {
      start('a.ts')
      each()
      assert.deepEqual(start('a.ts'), { texts: ['A'], stripped: ['a'] })
      assert.deepEqual(start('a.ts').stripped, [])
    }
  })

  test('uses no pack that others may write', (t) => {
    const { pack, start } = createWorld(t)
    start('a.ts')
    assert.equal(statSync(pack).mode & 0o022, 0)
    chmodSync(pack, 0o666)
    assert.deepEqual(start('a.ts').stripped, ['a'])
    assert.deepEqual(start('a.ts').stripped, [])
  })

  test('works where it cannot write, and leaves nothing there', (t) => {
    const { root, pack, start } = createWorld(t)
    writeFileSync(join(root, '.cache'), '')
    assert.deepEqual(start('a.ts').texts, ['A'])
    rmSync(join(root, '.cache'))
    mkdirSync(pack, { recursive: true })
    assert.deepEqual(start('a.ts').texts, ['A'])
    assert.deepEqual(start('a.ts').texts, ['A'])
    assert.deepEqual(readdirSync(join(root, '.cache')), ['sources'])
  })
})
