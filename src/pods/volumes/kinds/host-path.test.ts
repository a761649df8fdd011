import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createDesiredVolume } from '../../../../test/builders/create-desired-volume.ts'
import type { VolumeSource } from '../desired-volume.ts'
import { createHostPathKind } from './host-path.ts'

const { signal } = new AbortController()

function createKind(failure?: Error) {
  const checks: object[] = []
  const kind = createHostPathKind({
    guarded: {
      async checkHostPath(request) {
        checks.push(request)
        if (failure !== undefined) throw failure
      },
    },
  })
  return { kind, checks }
}

const ready = { kind: 'files', hostPath: '/data', readOnly: false, selinuxRelabel: false, groups: [] }

describe('createHostPathKind()', () => {
  test('uses a path as it is, as long as it answers, when no type is asked for', async () => {
    const { kind, checks } = createKind()
    assert.deepEqual(await kind.setUp(createDesiredVolume({ hostPath: { path: '/data', type: '' } }), signal), ready)
    assert.deepEqual(await kind.setUp(createDesiredVolume({ hostPath: { path: '/data' } }), signal), ready)
    const look = { path: '/data', type: '' }
    assert.deepEqual(checks, [look, look])
    assert.deepEqual([kind.plugin, kind.refreshed, kind.measure], ['kubernetes.io/host-path', false, undefined])
  })

  test('checks a type, and fails with what the check says', async () => {
    const message = 'hostPath type check failed: /data is not a directory'
    const { kind, checks } = createKind(new Error(message))
    const desired = createDesiredVolume({ hostPath: { path: '/data', type: 'Directory' } })
    await assert.rejects(kind.setUp(desired, signal), { message })
    assert.deepEqual(checks, [{ path: '/data', type: 'Directory' }])
  })

  test('serves persistent volumes, read-only when the claim says so', async () => {
    const source: VolumeSource = {
      kind: 'persistent',
      volume: { spec: { hostPath: { path: '/data' } } },
      claim: { namespace: 'shop', name: 'claim' },
    }
    const desired = createDesiredVolume({}, { source, readOnly: true })
    assert.deepEqual(await createKind().kind.setUp(desired, signal), { ...ready, readOnly: true })
  })

  const refused: readonly (readonly [path: string, type: string, message: string])[] = [
    ['data', '', 'Cannot use host path "data": expected an absolute path'],
    ['/data/../etc', '', 'Cannot use host path "/data/../etc": it has ".." in it'],
    [
      '/data',
      'Pipe',
      'Cannot use host path type "Pipe": expected one of DirectoryOrCreate, Directory, FileOrCreate, File, Socket, CharDevice, BlockDevice',
    ],
  ]
  for (const [path, type, message] of refused)
    test(`refuses ${path} of type "${type}"`, async () => {
      await assert.rejects(createKind().kind.setUp(createDesiredVolume({ hostPath: { path, type } }), signal), {
        message,
      })
    })

  test('takes a name with dots for what it is', async () => {
    const desired = createDesiredVolume({ hostPath: { path: '/data..old' } })
    assert.deepEqual(await createKind().kind.setUp(desired, signal), { ...ready, hostPath: '/data..old' })
  })
})
