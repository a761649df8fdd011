import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { findKernelDifferences, writeKernelSetting } from './kernel-settings.ts'

const GOOD = {
  'vm/overcommit_memory': '1',
  'vm/panic_on_oom': '0',
  'kernel/panic': '10',
  'kernel/panic_on_oops': '1',
  'kernel/keys/root_maxkeys': '1000000',
  'kernel/keys/root_maxbytes': '25000000',
}

function createRoot(t: TestContext, files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'deckhand-sysctl-'))
  t.after(() => rmSync(root, { recursive: true }))
  for (const folder of ['vm', 'kernel/keys']) mkdirSync(join(root, folder), { recursive: true })
  for (const [path, value] of Object.entries(files)) writeFileSync(join(root, path), `${value}\n`)
  return root
}

describe('kernel settings', () => {
  test('as a node needs them', (t) => {
    assert.deepEqual(findKernelDifferences(createRoot(t, GOOD)), [])
  })

  test('differences are named, and can be written', (t) => {
    const root = createRoot(t, { ...GOOD, 'vm/overcommit_memory': '0', 'kernel/panic': '-1' })
    const differences = findKernelDifferences(root)
    assert.deepEqual(differences, [
      { name: 'vm.overcommit_memory', wanted: 1, found: 0 },
      { name: 'kernel.panic', wanted: 10, found: -1 },
    ])
    for (const each of differences) assert.equal(writeKernelSetting(each, root), undefined)
    assert.deepEqual(findKernelDifferences(root), [])
    assert.equal(readFileSync(join(root, 'kernel/panic'), 'utf8').trim(), '10')
  })

  test('a kernel that has no such setting is reported, and none is made up', (t) => {
    const { 'kernel/keys/root_maxkeys': _, ...others } = GOOD
    const root = createRoot(t, others)
    const [missing, ...more] = findKernelDifferences(root)
    assert.ok(missing !== undefined)
    assert.deepEqual([missing, more], [{ name: 'kernel.keys.root_maxkeys', wanted: 1_000_000, found: undefined }, []])
    assert.match(writeKernelSetting(missing, root) ?? '', /ENOENT/)
  })
})
