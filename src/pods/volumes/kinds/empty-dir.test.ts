import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPod } from '../../../../test/builders/create-pod.ts'
import { createDesiredVolume } from '../../../../test/builders/create-desired-volume.ts'
import { FakeVolumeHost } from '../../../../test/fakes/fake-volume-host.ts'
import { createEmptyDirectories } from '../usage/empty-directories.ts'
import { createEmptyDirKind } from './empty-dir.ts'

const { signal } = new AbortController()
const path = '/root/pods/u-1/volumes/kind/data'

test('createEmptyDirKind() makes and removes what the spec asks for', async () => {
  const host = new FakeVolumeHost()
  const kind = createEmptyDirKind({ directories: createEmptyDirectories(host.deps) })
  const desired = createDesiredVolume({ emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } }, { fsGroup: 7 })
  assert.deepEqual(await kind.setUp(desired, signal), {
    kind: 'files',
    hostPath: path,
    readOnly: false,
    selinuxRelabel: true,
    groups: [],
  })
  assert.deepEqual(host.take(), [
    `make ${path} 777`,
    `mount tmpfs tmpfs ${path} size=1048576,noswap`,
    `give ${path} to 7`,
    'mark data',
  ])
  await kind.tearDown(desired, signal)
  assert.deepEqual(host.take(), ['unmark data', `unmount ${path}`, `remove ${path}`])
  assert.deepEqual([kind.plugin, kind.refreshed], ['kubernetes.io/empty-dir', false])
})

for (const [what, spec, emptyDir, expected] of [
  ['in a user namespace', { hostUsers: false }, {}, [`assign ${path}`, `release ${path}`]],
  ['that is root of the node', {}, {}, [`release ${path}`]],
  ['that wants memory', { hostUsers: false }, { medium: 'Memory' }, [`release ${path}`]],
] as const)
  test(`createEmptyDirKind() gives a new directory of a pod ${what} ${expected.length === 2 ? 'a' : 'no'} project`, async () => {
    const host = new FakeVolumeHost()
    const reported: string[] = []
    const projects = {
      assign: async (directory: string) => void reported.push(`assign ${directory}`),
      release: async (directory: string) => void reported.push(`release ${directory}`),
    }
    const kind = createEmptyDirKind({ directories: createEmptyDirectories(host.deps), projects })
    const desired = createDesiredVolume({ emptyDir }, { pod: createPod({ spec }) })
    await kind.setUp(desired, signal)
    // One that was there already is full of files that count for no project.
    await kind.setUp(desired, signal)
    await kind.tearDown(desired, signal)
    assert.deepEqual(reported, expected)
  })
