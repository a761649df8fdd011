import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, open, readFile, realpath, rm, rmdir, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { systemClock } from '../../src/base/async/clock.ts'
import { makeShared } from '../../src/system/mounts/make-shared.ts'
import { mountPointsBelow, mountsOnTheWay, readMountTable } from '../../src/system/mounts/mount-table.ts'
import { createChangeCheck, createKnownMountTable } from '../../src/system/mounts/known-mount-table.ts'
import { createMounter } from '../../src/system/mounts/mounter.ts'
import { mountsAt } from '../../src/system/mounts/mounts-at.ts'
import { createNoswapProbe } from '../../src/system/directories/noswap-probe.ts'
import { createVolumeFiles } from '../../src/system/directories/volume-files.ts'
import { runProcess } from '../../src/system/processes/run-process.ts'
import { inMountNamespace } from './in-mount-namespace.ts'

inMountNamespace(import.meta.filename, () => {
  const { signal } = new AbortController()
  const mounter = createMounter({ clock: systemClock })

  async function makeFolder(t: TestContext): Promise<string> {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'deckhand-kernel-')))
    t.after(async () => {
      for (const point of mountPointsBelow(await readMountTable(), folder))
        await mounter.unmount(point, { force: true }, signal)
      await rm(folder, { recursive: true })
    })
    return folder
  }

  async function makeTmpfs(folder: string, name: string, options: readonly string[] = []) {
    const target = join(folder, name)
    await mkdir(target)
    await mounter.mount({ fileSystem: 'tmpfs', source: 'tmpfs', target, options, deadlineMs: 5000 }, signal)
    return target
  }

  describe('the mounter on a real kernel', () => {
    test('mounts tmpfs with its options, as the mount table shows', async (t) => {
      const folder = await makeFolder(t)
      const target = await makeTmpfs(folder, 'a b', ['size=1048576', 'noexec'])
      const [entry, ...others] = await mountsAt(mounter, target)
      assert.deepEqual(others, [])
      assert.deepEqual([entry?.point, entry?.fileSystem, entry?.options.includes('noexec')], [target, 'tmpfs', true])
      assert.ok(entry?.superOptions.includes('size=1024k'))
    })

    test('knows of each change by the next look, and keeps the table until then', async (t) => {
      const folder = await makeFolder(t)
      let reads = 0
      const hasChanged = createChangeCheck()
      const counted = createKnownMountTable({
        hasChanged,
        readTable() {
          reads += 1
          return readMountTable()
        },
      })
      const optionsOf = async (point: string) =>
        (await counted()).filter((entry) => entry.point === point).map(({ options }) => options[0])
      assert.deepEqual(await optionsOf(folder), [])
      const target = await makeTmpfs(folder, 'a')
      assert.deepEqual([await optionsOf(target), await optionsOf(target)], [['rw'], ['rw']])
      // Others mount and unmount too, as the runtime does.
      const run = (...argv: readonly string[]) => runProcess(systemClock, { argv, deadlineMs: 5000 }, signal)
      await run('mount', '-o', 'remount,bind,ro', target)
      assert.deepEqual([await optionsOf(target), await optionsOf(target)], [['ro'], ['ro']])
      await run('umount', target)
      assert.deepEqual([await optionsOf(target), await optionsOf(target)], [[], []])
      assert.equal(reads, 4)
    })

    test('names what the kernel does not know', async (t) => {
      const folder = await makeFolder(t)
      const request = { fileSystem: 'nosuchfs', source: 'none', target: folder, options: [], deadlineMs: 5000 }
      await assert.rejects(
        mounter.mount(request, signal),
        /^MountError: Cannot mount nosuchfs on ".*": mount ended with exit code 32: mount: /,
      )
    })

    test('binds read-only, and keeps the flags of the source', async (t) => {
      const folder = await makeFolder(t)
      const source = await makeTmpfs(folder, 'source', ['nosuid', 'nodev'])
      const target = join(folder, 'target')
      await mkdir(target)
      await writeFile(join(source, 'file'), 'x')
      await mounter.bind({ source, target, options: ['ro'] }, signal)
      const [entry] = await mountsAt(mounter, target)
      assert.deepEqual(
        ['ro', 'nosuid', 'nodev'].filter((option) => entry?.options.includes(option)),
        ['ro', 'nosuid', 'nodev'],
      )
      await assert.rejects(writeFile(join(target, 'file'), 'y'), { code: 'EROFS' })
      await writeFile(join(source, 'file'), 'y')
      assert.equal(await readFile(join(target, 'file'), 'utf8'), 'y')
    })

    test('unmounts a stack, through a link, as often as asked', async (t) => {
      const folder = await makeFolder(t)
      const target = await makeTmpfs(folder, 'v')
      for (const source of ['one', 'two'])
        await mounter.mount({ fileSystem: 'tmpfs', source, target, options: [], deadlineMs: 5000 }, signal)
      await symlink(folder, `${folder}-link`)
      t.after(() => rm(`${folder}-link`))
      assert.equal((await mountsAt(mounter, `${folder}-link/v`)).length, 3)
      await mounter.unmount(`${folder}-link/v`, { force: false }, signal)
      assert.deepEqual(await mountsAt(mounter, target), [])
      await mounter.unmount(target, { force: false }, signal)
      await mounter.unmount(join(folder, 'never-there'), { force: false }, signal)
      await rmdir(target)
    })

    test('does not unmount what is in use, unless forced: then it is at least out of sight', async (t) => {
      const folder = await makeFolder(t)
      const target = await makeTmpfs(folder, 'v')
      await using _ = await open(join(target, 'file'), 'w')
      await assert.rejects(mounter.unmount(target, { force: false }, signal), /target is busy/)
      assert.equal((await mountsAt(mounter, target)).length, 1)
      await mounter.unmount(target, { force: true }, signal)
      assert.deepEqual(await mountsAt(mounter, target), [])
    })
  })

  describe('makeShared() on a real kernel', () => {
    test('a directory becomes a shared mount once, with what is mounted below it', async (t) => {
      const folder = await makeFolder(t)
      const below = await makeTmpfs(folder, 'below')
      await writeFile(join(below, 'file'), '')
      for (let starts = 0; starts < 3; starts += 1) await makeShared({ clock: systemClock }, folder, signal)
      assert.equal((await mountsAt(mounter, folder)).length, 1)
      const table = await readMountTable()
      assert.deepEqual(
        [folder, below].map((path) => mountsOnTheWay(table, path).at(-1)?.isShared),
        [true, true],
      )
      assert.ok((await stat(join(below, 'file'))).isFile())
      await mounter.unmount(below, { force: false }, signal)
      assert.deepEqual(await mountsAt(mounter, below), [])
    })

    test('what is mounted in it appears in a mount namespace that follows', async (t) => {
      const folder = await makeFolder(t)
      await makeShared({ clock: systemClock }, folder, signal)
      const follower = spawn('/usr/bin/setpriv', [
        '--pdeathsig',
        'KILL',
        'unshare',
        '--mount',
        '--propagation',
        'slave',
        'sh',
        '-c',
        'echo in; read x; cat /proc/self/mountinfo',
      ])
      follower.stdout.setEncoding('utf8')
      await once(follower.stdout, 'data')
      const target = await makeTmpfs(folder, 'later')
      let seen = ''
      follower.stdout.on('data', (text: string) => (seen += text))
      follower.stdin.end('\n')
      await once(follower, 'close')
      assert.ok(seen.includes(` ${target} `))
    })
  })

  test('createNoswapProbe() agrees with the kernel, and leaves nothing of its trial', async (t) => {
    const folder = await makeFolder(t)
    const directory = join(folder, 'probe')
    const ask = (release: string) =>
      createNoswapProbe({
        mounter,
        volumeFiles: createVolumeFiles({ rootDirectory: folder }),
        directory,
        swapIsOn: false,
        events: { record() {} },
        readKernel: async () => ({ release, inUserNamespace: false }),
      }).supported(signal)
    const options = ['noswap']
    const target = folder
    const works = await mounter
      .mount({ fileSystem: 'tmpfs', source: 'tmpfs', target, options, deadlineMs: 5000 }, signal)
      .then(
        () => true,
        () => false,
      )
    await mounter.unmount(folder, { force: false }, signal)
    assert.equal(await ask('5.0'), works)
    await assert.rejects(stat(directory), { code: 'ENOENT' })
  })
})
