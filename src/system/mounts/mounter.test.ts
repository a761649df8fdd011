import assert from 'node:assert/strict'
import { mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { DeadlineError } from '../../base/async/abort-errors.ts'
import { makeShared } from './make-shared.ts'
import { parseMountTable } from './mount-table.ts'
import { createMounter } from './mounter.ts'
import type { ProcessResult } from '../processes/run-process.ts'

const done: ProcessResult = { exitCode: 0, stdout: '', stderr: '' }
const { signal } = new AbortController()

/** A machine with mounts on some points; answers say how each mount(8) ends, and without one it works. */
function createMachine(points: string[], answers: (ProcessResult | Error)[] = []) {
  const calls: string[] = []
  const deps = {
    clock: new FakeClock(),
    async run(_clock: unknown, request: { readonly argv: readonly string[] }) {
      calls.push(request.argv.join(' '))
      const answer = answers.shift() ?? done
      if (answer instanceof Error) throw answer
      if (request.argv[0] === 'umount' && answer.exitCode === 0)
        points.splice(points.lastIndexOf(request.argv.at(-1) ?? ''), 1)
      return answer
    },
    readTable: async () => parseMountTable(points.map((point) => `1 1 0:1 / ${point} rw - tmpfs tmpfs rw`).join('\n')),
  }
  return { deps, mounter: createMounter(deps), calls, points }
}

const busy: ProcessResult = { exitCode: 32, stdout: '', stderr: 'umount: /x/v: target is busy.\n' }
const late = new DeadlineError('late')

describe('createMounter()', () => {
  test('mounts a file system with its options', async () => {
    const { mounter, calls } = createMachine([])
    const common = { target: '/x/v', deadlineMs: 1000 }
    await mounter.mount({ ...common, fileSystem: 'tmpfs', source: 'tmpfs', options: ['size=1', 'noswap'] }, signal)
    await mounter.mount({ ...common, fileSystem: 'nfs', source: '[::1]:/data', options: [] }, signal)
    assert.deepEqual(calls, [
      'mount --no-canonicalize -t tmpfs -o size=1,noswap -- tmpfs /x/v',
      'mount --no-canonicalize -t nfs -- [::1]:/data /x/v',
    ])
  })

  test('leaves file systems of other machines to a helper where there is one', async () => {
    const { deps, calls } = createMachine([])
    const mounter = createMounter({ ...deps, remoteHelper: '/opt/mounter' })
    const common = { source: 's:/a', target: '/x/v', options: ['ro'], deadlineMs: 1000 }
    await mounter.mount({ ...common, fileSystem: 'nfs' }, signal)
    await mounter.mount({ ...common, fileSystem: 'tmpfs' }, signal)
    assert.deepEqual(calls, [
      '/opt/mounter mount -t nfs -o ro s:/a /x/v',
      'mount --no-canonicalize -t tmpfs -o ro -- s:/a /x/v',
    ])
  })

  test('says what mount(8) said, and whether it may still happen', async () => {
    const said = { exitCode: 32, stdout: '', stderr: 'mount.nfs: access denied by server\n' }
    const { mounter } = createMachine([], [said, late])
    const request = { fileSystem: 'nfs', source: 's:/', target: '/x/v', options: [], deadlineMs: 1000 }
    await assert.rejects(mounter.mount(request, signal), {
      name: 'MountError',
      message: 'Cannot mount nfs on "/x/v": mount ended with exit code 32: mount.nfs: access denied by server',
      uncertain: false,
    })
    await assert.rejects(mounter.mount(request, signal), {
      message: 'Cannot mount nfs on "/x/v": mount did not end within 1000 ms',
      uncertain: true,
    })
  })

  test('binds, then sets the options', async () => {
    const { mounter, calls } = createMachine([])
    await mounter.bind({ source: '/from', target: '/x/v', options: ['ro'] }, signal)
    await mounter.bind({ source: '/from', target: '/x/v', options: [] }, signal)
    assert.deepEqual(calls, [
      'mount --no-canonicalize --bind -- /from /x/v',
      'mount --no-canonicalize -o remount,bind,ro -- /x/v',
      'mount --no-canonicalize --bind -- /from /x/v',
    ])
  })

  test('leaves no writable bind behind when it cannot be made read-only', async () => {
    const { mounter, points } = createMachine(['/x/v'], [done, { ...busy, stderr: 'mount: no' }])
    await assert.rejects(mounter.bind({ source: '/from', target: '/x/v', options: ['ro'] }, signal), /: mount: no$/)
    assert.deepEqual(points, [])
  })

  test('unmounts until nothing is mounted there', async () => {
    const { mounter, calls } = createMachine(['/x/v', '/x/v', '/x/v/below', '/x/v'])
    await mounter.unmount('/x/v', { force: false }, signal)
    await mounter.unmount('/x/v', { force: false }, signal)
    assert.deepEqual(calls, Array(3).fill('umount --no-canonicalize -- /x/v'))
  })

  test('does not force what must not be forced', async () => {
    const { mounter } = createMachine(['/x/v'], [busy])
    await assert.rejects(mounter.unmount('/x/v', { force: false }, signal), {
      message: 'Cannot unmount "/x/v": umount ended with exit code 32: umount: /x/v: target is busy.',
    })
  })

  test('forces step by step', async () => {
    const { mounter, calls } = createMachine(['/x/v'], [late, busy])
    await mounter.unmount('/x/v', { force: true }, signal)
    assert.deepEqual(calls, [
      'umount --no-canonicalize -- /x/v',
      'umount --no-canonicalize --force -- /x/v',
      'umount --no-canonicalize --lazy -- /x/v',
    ])
  })

  test('is content when it was unmounted meanwhile', async () => {
    const { mounter, points, deps } = createMachine(['/x/v'])
    const run = async () => {
      points.length = 0
      return busy
    }
    await createMounter({ ...deps, run }).unmount('/x/v', { force: false }, signal)
    assert.deepEqual(await mounter.table(), [])
  })

  test('knows a mount point behind a link', async (t) => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'deckhand-mounter-')))
    t.after(() => rm(folder, { recursive: true }))
    await mkdir(join(folder, 'real'))
    await symlink('real', join(folder, 'link'))
    const { mounter, points } = createMachine([join(folder, 'real/v')])
    await mounter.unmount(join(folder, 'link/v'), { force: false }, signal)
    assert.deepEqual(points, [])
  })

  test('an abort is passed on as it is', async () => {
    const reason = new Error('enough')
    const { mounter } = createMachine(['/x/v'], [late])
    await assert.rejects(mounter.unmount('/x/v', { force: true }, AbortSignal.abort(reason)), reason)
  })
})

describe('makeShared()', () => {
  const root = tmpdir()
  const rows: readonly (readonly [name: string, table: string, argv: readonly string[]])[] = [
    [
      'a directory on a private mount becomes a mount of its own',
      '1 1 0:1 / / rw - ext4 d rw',
      [`mount --no-canonicalize --rbind -- ${root} ${root}`, `mount --no-canonicalize --make-rshared -- ${root}`],
    ],
    ['a directory on a shared mount is left alone', '1 1 0:1 / / rw shared:1 - ext4 d rw', []],
    [
      'a private mount point only becomes shared',
      `1 1 0:1 / / rw shared:1 - ext4 d rw\n2 1 0:1 /x ${root} rw - ext4 d rw`,
      [`mount --no-canonicalize --make-rshared -- ${root}`],
    ],
    ['after a restart nothing is to do', `1 1 0:1 / / rw - ext4 d rw\n2 1 0:1 /x ${root} rw shared:2 - ext4 d rw`, []],
  ]
  for (const [name, table, argv] of rows)
    test(name, async () => {
      const { deps, calls } = createMachine([])
      await makeShared({ ...deps, readTable: async () => parseMountTable(table) }, root, signal)
      assert.deepEqual(calls, argv)
    })
})
