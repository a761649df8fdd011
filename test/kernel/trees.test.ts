import assert from 'node:assert/strict'
import { chmodSync, chownSync, linkSync, lstatSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { createGuardedWorld } from './guarded-world.ts'
import { watchLoop } from './loop-holds.ts'

const GROUP = 20_000
const DIRECTORIES = 100
const FILES_EACH = 200

/** Owner, group and mode. */
function describeFile(path: string): string {
  const { uid, gid, mode } = lstatSync(path)
  return `${uid}:${gid} ${(mode & 0o7777).toString(8)}`
}

const all = { group: GROUP, readOnly: false, onlyOnRootMismatch: false }
const silent = () => {}

describe('setOwnership()', () => {
  test('gives group and modes to all that is in a volume, and to nothing that links point to', async (t) => {
    const { folder, files, signal } = await createGuardedWorld(t)
    const root = join(folder, 'volume')
    mkdirSync(join(root, 'd'), { recursive: true, mode: 0o700 })
    writeFileSync(join(folder, 'outside'), '', { mode: 0o600 })
    writeFileSync(join(root, 'd/f'), '', { mode: 0o600 })
    linkSync(join(root, 'd/f'), join(root, 'second'))
    symlinkSync('../outside', join(root, 'link'))
    writeFileSync(join(root, 'program'), '', { mode: 0o755 })
    chownSync(join(root, 'program'), 1000, 1000)
    chmodSync(join(root, 'program'), 0o4755)
    const outcome = await files.setOwnership({ root, ...all }, silent, signal)
    const seen = ['.', 'd', 'd/f', 'link', 'program', '../outside'].map((path) => describeFile(join(root, path)))
    assert.deepEqual(outcome, { entries: 6, failed: 0 })
    assert.deepEqual(seen, [
      `0:${GROUP} 2770`,
      `0:${GROUP} 2770`,
      `0:${GROUP} 660`,
      `0:${GROUP} 777`,
      `1000:${GROUP} 4775`,
      '0:0 600',
    ])
  })

  test('gives no right to write in a read-only volume', async (t) => {
    const { folder, files, signal } = await createGuardedWorld(t)
    const root = join(folder, 'volume')
    mkdirSync(root, { mode: 0o700 })
    writeFileSync(join(root, 'f'), '', { mode: 0o600 })
    await files.setOwnership({ root, ...all, readOnly: true }, silent, signal)
    assert.deepEqual([root, join(root, 'f')].map(describeFile), [`0:${GROUP} 2750`, `0:${GROUP} 640`])
  })

  test('checks the root only when that is enough', async (t) => {
    const { folder, files, signal } = await createGuardedWorld(t)
    const root = join(folder, 'volume')
    mkdirSync(root)
    writeFileSync(join(root, 'f'), '', { mode: 0o600 })
    const request = { root, ...all, onlyOnRootMismatch: true }
    assert.deepEqual(await files.setOwnership(request, silent, signal), { entries: 2, failed: 0 })
    chownSync(join(root, 'f'), 0, 0)
    assert.deepEqual(await files.setOwnership(request, silent, signal), { entries: 0, failed: 0 })
    assert.equal(describeFile(join(root, 'f')), '0:0 660')
    chmodSync(root, 0o770)
    assert.deepEqual(await files.setOwnership(request, silent, signal), { entries: 2, failed: 0 })
  })

  test('goes on when a single file refuses, and says so', async (t) => {
    const { folder, files, namespace, signal } = await createGuardedWorld(t)
    const root = join(folder, 'volume')
    mkdirSync(root)
    for (const name of ['fast', 'loose']) writeFileSync(join(root, name), '', { mode: 0o600 })
    await namespace.run('chattr', '+i', join(root, 'fast'))
    const [attempt] = await Promise.allSettled([files.setOwnership({ root, ...all }, silent, signal)])
    await namespace.run('chattr', '-i', join(root, 'fast'))
    assert.ok(attempt.status === 'fulfilled')
    const { entries, failed, firstFailure } = attempt.value
    assert.deepEqual([entries, failed], [3, 1])
    assert.match(firstFailure ?? '', /EPERM/)
    assert.equal(describeFile(join(root, 'loose')), `0:${GROUP} 660`)
  })
})

describe('mounts in a tree', () => {
  test('are neither changed nor counted, and keep the tree from being removed', async (t) => {
    const { folder, files, namespace, signal } = await createGuardedWorld(t)
    const root = join(folder, 'volume')
    // One on another device, one that differs from the rest only by its mount.
    mkdirSync(join(root, 'memory'), { recursive: true })
    mkdirSync(join(root, 'bound'))
    mkdirSync(join(folder, 'precious'))
    writeFileSync(join(folder, 'precious/file'), Buffer.alloc(50_000, 1), { mode: 0o600 })
    const empty = await files.measureTree(root, signal)
    await namespace.run('mount', '-t', 'tmpfs', 'none', join(root, 'memory'))
    await namespace.run('mount', '--bind', join(folder, 'precious'), join(root, 'bound'))
    await namespace.run('dd', 'if=/dev/zero', `of=${join(root, 'memory/file')}`, 'bs=4096', 'count=10')
    const { inodes, bytes } = await files.measureTree(root, signal)
    assert.ok(inodes === 1 && bytes < empty.bytes, 'the covered directories are not seen')
    await files.setOwnership({ root, ...all }, silent, signal)
    const refused = { code: 'EBUSY', message: `Cannot remove "${root}": "${join(root, 'bound')}" is mounted in it` }
    await assert.rejects(files.removeTree(root, signal), refused)
    await namespace.run('umount', join(root, 'bound'))
    await namespace.run('umount', join(root, 'memory'))
    assert.deepEqual(
      [describeFile(join(folder, 'precious/file')), readdirSync(join(folder, 'precious'))],
      ['0:0 600', ['file']],
    )
    await namespace.run('mount', '--bind', join(folder, 'precious'), root)
    await assert.rejects(files.removeTree(root, signal), { code: 'EBUSY' })
    await namespace.run('umount', root)
    await files.removeTree(root, signal)
    assert.deepEqual(readdirSync(folder), ['precious'])
  })
})

test('a large tree is walked without holding up the agent', async (t) => {
  const { folder, files, signal } = await createGuardedWorld(t)
  const root = join(folder, 'volume')
  for (let directory = 0; directory < DIRECTORIES; directory += 1) {
    mkdirSync(join(root, String(directory)), { recursive: true })
    for (let file = 0; file < FILES_EACH; file += 1) writeFileSync(join(root, String(directory), String(file)), '')
  }
  const entries = DIRECTORIES * FILES_EACH + DIRECTORIES + 1
  let heldMs = 0
  using _ = watchLoop((ms) => (heldMs = Math.max(heldMs, ms)))
  const reported: number[] = []
  const started = performance.now()
  const outcome = await files.setOwnership({ root, ...all }, (count) => reported.push(count), signal)
  const { inodes } = await files.measureTree(root, signal)
  await files.removeTree(root, signal)
  const seconds = (performance.now() - started) / 1000
  t.diagnostic(`${entries} entries: ${seconds.toFixed(1)} s, event loop held up for ${heldMs.toFixed(0)} ms at most`)
  assert.deepEqual([outcome, inodes, readdirSync(folder)], [{ entries, failed: 0 }, entries, []])
  assert.deepEqual(reported.slice(0, 3), [100, 200, 300])
  // Node waits for a child process until it has begun, and that may wait for a CPU.
  assert.ok(heldMs < 200, `the event loop was held up for ${heldMs} ms`)
})
