import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { hasSwapController } from './has-swap-controller.ts'

const rows = [
  [
    'a cgroup below the root of version 2, which has none itself',
    2,
    ['cgroup.controllers', 'system.slice/memory.swap.max'],
    true,
  ],
  ['the root of a container, which is not the real one', 2, ['cgroup.controllers', 'memory.swap.max'], true],
  ['a kernel of version 2 that cannot', 2, ['cgroup.controllers', 'system.slice/memory.max'], false],
  ['version 1', 1, ['memory/memory.memsw.limit_in_bytes'], true],
  ['a kernel of version 1 that cannot', 1, ['memory/memory.limit_in_bytes'], false],
  ['a machine without cgroups', 2, [], false],
] as const

for (const [name, version, files, expected] of rows) {
  test(`hasSwapController() reads ${name}`, (t) => {
    const mount = mkdtempSync(join(tmpdir(), 'deckhand-cgroups-'))
    t.after(() => rmSync(mount, { recursive: true }))
    for (const file of files) {
      mkdirSync(dirname(join(mount, file)), { recursive: true })
      writeFileSync(join(mount, file), '')
    }
    assert.equal(hasSwapController(version, mount), expected)
  })
}
