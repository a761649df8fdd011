import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readdirSync, rmdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { createGuardedWorld } from './guarded-world.ts'

const BINDS = 500

async function createVolume(t: TestContext) {
  const world = await createGuardedWorld(t)
  const root = join(world.folder, 'volume')
  mkdirSync(root)
  const targets = join(world.folder, 'volume-subpaths')
  const target = join(targets, 'data', 'web', '0')
  /** What the kernel says is bound at the target: the path within its file system. */
  const bound = () => world.namespace.mounts(targets).map((line) => line.split(' ')[3])
  return { ...world, root, targets, target, bound }
}

describe('bindSubPath()', () => {
  test('binds a directory, and the same one only once', async (t) => {
    const { root, target, bound, files, namespace, signal } = await createVolume(t)
    mkdirSync(join(root, 'a/b'), { recursive: true })
    writeFileSync(join(root, 'a/b/c'), 'here')
    await files.bindSubPath({ root, path: 'a/b', target }, signal)
    await files.bindSubPath({ root, path: 'a/b', target }, signal)
    assert.deepEqual(bound(), [join(root, 'a/b')])
    assert.equal(await namespace.run('cat', join(target, 'c')), 'here')
    assert.equal(statSync(target).mode & 0o777, 0o750)
  })

  test('binds a file on a file', async (t) => {
    const { root, target, bound, files, signal } = await createVolume(t)
    writeFileSync(join(root, 'f'), 'here')
    await files.bindSubPath({ root, path: 'f', target }, signal)
    assert.deepEqual(
      [bound(), statSync(target).isFile(), statSync(target).mode & 0o777],
      [[join(root, 'f')], true, 0o640],
    )
  })

  test('binds what is there now when it is something else than before', async (t) => {
    const { root, target, bound, files, signal } = await createVolume(t)
    mkdirSync(join(root, 'a'))
    await files.bindSubPath({ root, path: 'a', target }, signal)
    rmdirSync(join(root, 'a'))
    writeFileSync(join(root, 'a'), '')
    await files.bindSubPath({ root, path: 'a', target }, signal)
    assert.deepEqual([bound(), statSync(target).isFile()], [[join(root, 'a')], true])
  })

  test('follows links that stay inside, and refuses others', async (t) => {
    const { root, folder, target, bound, files, signal } = await createVolume(t)
    mkdirSync(join(root, 'releases/2'), { recursive: true })
    mkdirSync(join(folder, 'volume-of-others'))
    symlinkSync('releases/2', join(root, 'current'))
    symlinkSync('../volume-of-others', join(root, 'out'))
    symlinkSync('/', join(root, 'slash'))
    await files.bindSubPath({ root, path: 'current', target }, signal)
    assert.deepEqual(bound(), [join(root, 'releases/2')])
    for (const path of ['out', 'slash', 'slash/etc']) {
      const refused = files.bindSubPath({ root, path, target: join(folder, 'other') }, signal)
      await assert.rejects(refused, {
        code: 'EXDEV',
        message: `Cannot use "${path}": it is not allowed to be outside of its volume`,
      })
    }
    for (const path of ['..', 'a/../..', '/etc'])
      await assert.rejects(files.bindSubPath({ root, path, target }, signal), { code: 'EINVAL' })
    assert.deepEqual([bound(), readdirSync(folder).includes('other')], [[join(root, 'releases/2')], false])
  })

  test('keeps the old bind when its source became a link to the outside', async (t) => {
    const { root, target, bound, files, signal } = await createVolume(t)
    mkdirSync(join(root, 'a'))
    await files.bindSubPath({ root, path: 'a', target }, signal)
    rmdirSync(join(root, 'a'))
    symlinkSync('/', join(root, 'a'))
    await assert.rejects(files.bindSubPath({ root, path: 'a', target }, signal), { code: 'EXDEV' })
    assert.equal(bound().length, 1)
    assert.notDeepEqual(bound(), ['/'])
  })

  test('leaves nothing behind when it fails', async (t) => {
    const { root, folder, target, bound, files, namespace, signal } = await createVolume(t)
    await assert.rejects(files.bindSubPath({ root, path: 'absent', target }, signal), { code: 'ENOENT' })
    // A file system that refuses to be bound: its own bind is unbindable.
    const stubborn = join(folder, 'stubborn')
    mkdirSync(stubborn)
    await namespace.run('mount', '-t', 'tmpfs', '-o', 'mode=755', 'none', stubborn)
    await namespace.run('mkdir', join(stubborn, 'a'))
    await namespace.run('mount', '--make-unbindable', stubborn)
    const request = { root: stubborn, path: 'a', target }
    await assert.rejects(files.bindSubPath(request, signal), { code: 'EIO' })
    assert.deepEqual([bound(), statSync(target, { throwIfNoEntry: false })], [[], undefined])
  })

  test('never shows the outside, however fast a directory and a link change places', async (t) => {
    const { root, targets, folder, bound, files, signal } = await createVolume(t)
    const swapper = await startSwapping(t, root)
    let refused = 0
    for (let index = 0; index < BINDS; index += 1) {
      const request = { root, path: 'a/inner', target: join(targets, 'data', 'web', String(index)) }
      await files.bindSubPath(request, signal).catch((error: Error & { code: string }) => {
        assert.ok(['EXDEV', 'ELOOP', 'ENOENT', 'ENOTDIR'].includes(error.code), error.message)
        refused += 1
      })
    }
    swapper.kill('SIGKILL')
    const roots = bound()
    assert.deepEqual(
      roots.filter((path) => !path?.startsWith(`${root}/`)),
      [],
    )
    assert.equal(roots.length, BINDS - refused)
    t.diagnostic(`${refused} of ${BINDS} binds were refused`)
    await files.releaseSubPaths(targets, signal)
    assert.deepEqual([bound(), readdirSync(folder).includes('volume-subpaths')], [[], false])
  })
})

/** Exchanges a directory and a link to the root of the host as fast as it can, as a hostile container would. Both have "inner". */
async function startSwapping(t: TestContext, root: string) {
  mkdirSync(join(root, 'real/inner'), { recursive: true })
  mkdirSync(join(root, '..', 'outside/inner'), { recursive: true })
  const program = `
    const { renameSync, symlinkSync } = require('node:fs')
    process.chdir(${JSON.stringify(root)})
    symlinkSync('../outside', 'link')
    console.log('swapping')
    for (;;) {
      renameSync('real', 'a')
      renameSync('a', 'real')
      renameSync('link', 'a')
      renameSync('a', 'link')
    }`
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  return child
}

describe('makeSubPath()', () => {
  test('makes what is missing with the mode of the root, whatever the umask', async (t) => {
    const { root, files, signal } = await createVolume(t)
    chmodSync(root, 0o2775)
    await files.makeSubPath({ root, path: 'a/./b' }, signal)
    const modes = ['a', 'a/b'].map((path) => statSync(join(root, path)).mode & 0o7777)
    assert.deepEqual(modes, [0o2775, 0o2775])
    await files.makeSubPath({ root, path: 'a/b' }, signal)
  })

  test('makes nothing outside, and nothing through a link that leads nowhere', async (t) => {
    const { root, folder, files, signal } = await createVolume(t)
    mkdirSync(join(root, 'releases/2'), { recursive: true })
    symlinkSync('releases/2', join(root, 'current'))
    symlinkSync('..', join(root, 'out'))
    symlinkSync('../new', join(root, 'dangling'))
    writeFileSync(join(root, 'file'), '')
    await files.makeSubPath({ root, path: 'current/logs' }, signal)
    assert.ok(statSync(join(root, 'releases/2/logs')).isDirectory())
    await assert.rejects(files.makeSubPath({ root, path: 'out/x' }, signal), { code: 'EXDEV' })
    await assert.rejects(files.makeSubPath({ root, path: 'dangling/x' }, signal), { code: 'ENOTDIR' })
    await assert.rejects(files.makeSubPath({ root, path: 'file/x' }, signal), { code: 'ENOTDIR' })
    await assert.rejects(files.makeSubPath({ root, path: 'a/../../x' }, signal), { code: 'EINVAL' })
    assert.deepEqual(readdirSync(folder), ['volume'])
  })
})

describe('releaseSubPaths()', () => {
  test('takes away binds of directories and files, also stacked ones', async (t) => {
    const { root, folder, targets, bound, files, namespace, signal } = await createVolume(t)
    mkdirSync(join(root, 'a'))
    writeFileSync(join(root, 'f'), 'x')
    const target = (index: number) => join(targets, 'data', 'web', String(index))
    await files.bindSubPath({ root, path: 'a', target: target(0) }, signal)
    await files.bindSubPath({ root, path: 'f', target: target(1) }, signal)
    await namespace.run('mount', '--bind', root, target(0))
    await files.releaseSubPaths(join(targets, 'data'), signal)
    assert.deepEqual([bound(), readdirSync(targets), readdirSync(root)], [[], [], ['a', 'f']])
    await files.releaseSubPaths(targets, signal)
    await files.releaseSubPaths(targets, signal)
    assert.deepEqual(readdirSync(folder), ['volume'])
  })

  test('leaves what is not ours', async (t) => {
    const { targets, files, signal } = await createVolume(t)
    mkdirSync(join(targets, 'data/web/0/deep/deeper'), { recursive: true })
    await assert.rejects(files.releaseSubPaths(targets, signal), { code: 'ENOTEMPTY' })
    assert.ok(statSync(join(targets, 'data/web/0/deep/deeper')).isDirectory())
  })
})
