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

const rooted = { inUserNamespace: false }

function settingsOf({ isProtected = false, isGateOn = false }: { isProtected?: boolean; isGateOn?: boolean } = {}) {
  return { config: { protectKernelDefaults: isProtected }, gates: { enabled: () => isGateOn } }
}

describe('applyKernelSettings()', () => {
  test('protected settings that differ are all named, and none is touched', (t) => {
    const root = createRoot(t)
    const settings = settingsOf({ isProtected: true })
    assert.throws(() => applyKernelSettings({ settings, machine: rooted, log: silentLogger }, root), {
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
    const log = { ...silentLogger, info: report, warn: report }
    applyKernelSettings({ settings: settingsOf(), machine: rooted, log }, root)
    assert.equal(Number(readFileSync(join(root, 'vm/overcommit_memory'), 'utf8')), 1)
    assert.deepEqual(reported, [
      'kernel setting changed vm.overcommit_memory',
      'cannot change a kernel setting kernel.panic',
      'cannot change a kernel setting kernel.panic_on_oops',
      'cannot change a kernel setting kernel.keys.root_maxkeys',
      'cannot change a kernel setting kernel.keys.root_maxbytes',
    ])
  })

  for (const isGateOn of [false, true])
    for (const inUserNamespace of [false, true])
      test(`what cannot be changed is a warning or expected: gate ${isGateOn}, user namespace ${inUserNamespace}`, (t) => {
        const warned: string[] = []
        const log = { ...silentLogger, warn: (message: string) => void warned.push(message) }
        applyKernelSettings({ settings: settingsOf({ isGateOn }), machine: { inUserNamespace }, log }, createRoot(t))
        assert.equal(warned.length, isGateOn && inUserNamespace ? 0 : 4)
      })
})
