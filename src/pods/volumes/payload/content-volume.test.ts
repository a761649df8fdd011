import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createDesiredVolume } from '../../../../test/builders/create-desired-volume.ts'
import { FakeClock } from '../../../../test/fakes/fake-clock.ts'
import { FakeVolumeHost } from '../../../../test/fakes/fake-volume-host.ts'
import type { Payload } from '../../../system/files/payload/payload.ts'
import { createContentKind } from './content-volume.ts'
import { createEmptyDirectories } from '../usage/empty-directories.ts'

const { signal } = new AbortController()
const path = '/root/pods/u-1/volumes/kind/data'

/** A kind that shows the payload, which a test may replace by a failure. */
function createKind(medium: '' | 'Memory' = '') {
  const host = new FakeVolumeHost()
  const clock = new FakeClock()
  const state: { payload: Payload | Error; writeFailure: Error | undefined } = {
    payload: new Map(),
    writeFailure: undefined,
  }
  const kind = createContentKind(
    {
      directories: createEmptyDirectories(host.deps),
      writer: {
        async write({ directory, payload, group }) {
          host.journal.push(`write ${[...payload.keys()].join(',')} into ${directory} for ${group}`)
          if (state.writeFailure !== undefined) throw state.writeFailure
          return true
        },
      },
      async makeMountPoints(root, paths) {
        host.journal.push(`points ${paths.join(',')} in ${root}`)
      },
      clock,
      log: host.deps.log,
    },
    {
      plugin: 'kubernetes.io/kind',
      medium,
      async gather() {
        if (state.payload instanceof Error) throw state.payload
        return state.payload
      },
    },
  )
  return { host, clock, kind, state }
}

const file = { content: new Uint8Array(), mode: 0o644 }

describe('createContentKind()', () => {
  test('is read-only, and updated again and again', async () => {
    const { kind } = createKind()
    assert.deepEqual([kind.plugin, kind.refreshed, kind.measure], ['kubernetes.io/kind', true, 'once'])
    assert.deepEqual(await kind.setUp(createDesiredVolume({}), signal), {
      kind: 'files',
      hostPath: path,
      readOnly: true,
      selinuxRelabel: true,
      groups: [],
    })
  })

  test('makes the directory, mount points for other volumes, then writes', async () => {
    const { host, kind, state } = createKind('Memory')
    state.payload = new Map([['a', file]])
    const desired = createDesiredVolume({}, { fsGroup: 7, nestedMountPoints: ['x', 'y/z'] })
    await kind.setUp(desired, signal)
    assert.deepEqual(host.take(), [
      `make ${path} 777`,
      `mount tmpfs tmpfs ${path} noswap`,
      `give ${path} to 7`,
      'mark wrapped_data',
      `points x,y/z in ${path}`,
      `write a into ${path} for 7`,
    ])
  })

  test('looks at its files again when they change, when others are asked for, and every ten minutes', async () => {
    const { host, clock, kind, state } = createKind()
    state.payload = new Map([['a', file]])
    const desired = createDesiredVolume({}, { nestedMountPoints: ['x'] })
    const [points, written] = [`points x in ${path}`, `write a into ${path} for undefined`]
    const setUp = async (request = desired) => {
      await kind.setUp(request, signal)
      return host.take().filter((each) => /^(points|write)/.test(each))
    }
    assert.deepEqual([await setUp(), await setUp()], [[points, written], []])
    state.payload = new Map([['a', { ...file, content: Buffer.from('b') }]])
    assert.deepEqual([await setUp(), await setUp()], [[points, written], []])
    state.payload = new Map([['a', { ...file, content: Buffer.from('b'), mode: 0o600 }]])
    assert.deepEqual([await setUp(), await setUp()], [[points, written], []])
    assert.deepEqual(await setUp({ ...desired, fsGroup: 7 }), [points, `write a into ${path} for 7`])
    await clock.advance(600_000)
    state.writeFailure = new Error('no room')
    const request = { ...desired, fsGroup: 7 }
    await assert.rejects(setUp(request), /no room/)
    state.writeFailure = undefined
    host.take()
    assert.deepEqual(await setUp(request), [points, `write a into ${path} for 7`])
    await kind.tearDown(desired, signal)
    host.take()
    assert.deepEqual(await setUp(request), [points, `write a into ${path} for 7`])
  })

  test('touches nothing when there is nothing to show', async () => {
    const { host, kind, state } = createKind()
    state.payload = new Error('configmap "x" not found')
    await assert.rejects(kind.setUp(createDesiredVolume({}), signal), { message: 'configmap "x" not found' })
    assert.deepEqual(host.take(), [])
  })

  test('a first write that fails leaves nothing behind', async () => {
    const { host, kind, state } = createKind('Memory')
    state.writeFailure = new Error('no space')
    await assert.rejects(kind.setUp(createDesiredVolume({}), signal), { message: 'no space' })
    assert.deepEqual(host.take().slice(-3), ['unmark wrapped_data', `unmount ${path}`, `remove ${path}`])
  })

  test('a later write that fails leaves the old content', async () => {
    const { host, kind, state } = createKind()
    await kind.setUp(createDesiredVolume({}), signal)
    host.take()
    state.writeFailure = new Error('no space')
    state.payload = new Map([['a', file]])
    await assert.rejects(kind.setUp(createDesiredVolume({}), signal), { message: 'no space' })
    assert.deepEqual(host.take(), [`points  in ${path}`, `write a into ${path} for undefined`])
  })

  test('the first failure is reported when cleaning up fails too', async () => {
    const { host, kind, state } = createKind()
    state.writeFailure = new Error('no space')
    host.failures.set('remove', new Error('busy'))
    await assert.rejects(kind.setUp(createDesiredVolume({}), signal), { message: 'no space' })
    assert.deepEqual(host.warnings, ['cannot remove a volume that could not be filled'])
  })

  test('goes away by what is there, without a spec', async () => {
    const { host, kind } = createKind('Memory')
    const desired = createDesiredVolume({})
    await kind.setUp(desired, signal)
    host.take()
    await kind.tearDown({ uid: desired.uid, specName: 'data', path }, signal)
    assert.deepEqual(host.take(), ['unmark wrapped_data', `unmount ${path}`, `remove ${path}`])
  })
})
