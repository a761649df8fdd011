import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { applyKernelSettings } from './apply-kernel-settings.ts'

/** A kernel that has two of the settings, one of them wrong. */
function createRoot(t: TestContext): string {
  const root = mkdtempSync(join(tmpdir(), 'deckhand-sysctl-'))
  t.after(() => rmSync(root, { recursive: true }))
  mkdirSync(join(root, 'vm'))
  writeFileSync(join(root, 'vm/overcommit_memory'), '0\n')
  writeFileSync(join(root, 'vm/panic_on_oom'), '0\n')
  return root
}

describe('applyKernelSettings()', () => {
  test('protected settings that differ are all named, and none is touched', (t) => {
    const root = createRoot(t)
    assert.throws(() => applyKernelSettings({ isProtected: true, isExpected: false, log: silentLogger }, root), {
      message:
        'Cannot run with this kernel, its settings are protected (protectKernelDefaults): vm.overcommit_memory is 0, expected 1; ' +
        'kernel.panic is not there, expected 10; kernel.panic_on_oops is not there, expected 1; ' +
        'kernel.keys.root_maxkeys is not there, expected 1000000; kernel.keys.root_maxbytes is not there, expected 25000000',
    })
    assert.equal(readFileSync(join(root, 'vm/overcommit_memory'), 'utf8'), '0\n')
  })

  test('others are changed, and what cannot be changed is reported', (t) => {
    const root = createRoot(t)
    const reported: string[] = []
    const report = (message: string, fields?: Readonly<Record<string, unknown>>) =>
      void reported.push(`${message} ${String(fields?.['name'])}`)
    applyKernelSettings(
      { isProtected: false, isExpected: false, log: { ...silentLogger, info: report, warn: report } },
      root,
    )
    assert.equal(Number(readFileSync(join(root, 'vm/overcommit_memory'), 'utf8')), 1)
    assert.deepEqual(reported, [
      'kernel setting changed vm.overcommit_memory',
      'cannot change a kernel setting kernel.panic',
      'cannot change a kernel setting kernel.panic_on_oops',
      'cannot change a kernel setting kernel.keys.root_maxkeys',
      'cannot change a kernel setting kernel.keys.root_maxbytes',
    ])
  })

  test('what cannot be changed in a user namespace is expected there', (t) => {
    const warned: string[] = []
    const log = { ...silentLogger, warn: (message: string) => void warned.push(message) }
    applyKernelSettings({ isProtected: false, isExpected: true, log }, createRoot(t))
    assert.deepEqual(warned, [])
  })
})
