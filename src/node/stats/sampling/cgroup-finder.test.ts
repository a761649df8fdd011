import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { CgroupReader } from '../../../system/cgroups/cgroup-reader.ts'
import type { PodUid } from '../../../model/pod/pod.ts'
import { CgroupFinder } from './cgroup-finder.ts'

const uid = '11111111-2222' as PodUid

/** Only the names count here. */
function createTree(...paths: readonly string[]): CgroupReader & { readonly paths: Set<string> } {
  const tree = new Set(paths)
  return {
    paths: tree,
    version: 2,
    read: () => undefined,
    exists: (cgroup) => tree.has(cgroup),
    children: (cgroup) =>
      [...tree].filter((path) => path.startsWith(`${cgroup}/`)).map((path) => path.slice(cgroup.length + 1)),
  }
}

describe('CgroupFinder', () => {
  for (const [driver, pod, part] of [
    ['cgroupfs', `/kubepods/besteffort/pod${uid}`, 'abc'],
    [
      'systemd',
      '/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod11111111_2222.slice',
      'cri-containerd-abc.scope',
    ],
    ['systemd', '/kubepods.slice/kubepods-pod11111111_2222.slice', 'docker-abc.scope'],
  ] as const)
    test(`finds ${part} as ${driver} names it`, () => {
      const finder = new CgroupFinder(createTree(pod, `${pod}/${part}`), { driver, root: '/', perQos: true })
      assert.deepEqual([finder.ofPod(uid), finder.ofPart(pod, 'abc')], [pod, `${pod}/${part}`])
    })

  test('takes no cgroup of the runtime for that of a container', () => {
    const tree = createTree('/p', '/p/crio-conmon-abc.scope', '/p/crio-abc.scope')
    const finder = new CgroupFinder(tree, { driver: 'systemd', root: '/', perQos: true })
    assert.deepEqual([finder.ofPart('/p', 'abc'), finder.ofPart('/p', 'def')], ['/p/crio-abc.scope', undefined])
  })

  test('searches again for a pod that is not where it was, and forgets what is gone', () => {
    const tree = createTree(`/kubepods/pod${uid}`, `/kubepods/pod${uid}/abc`)
    const finder = new CgroupFinder(tree, { driver: 'cgroupfs', root: '/', perQos: true })
    assert.equal(finder.ofPod(uid), `/kubepods/pod${uid}`)
    finder.ofPart(`/kubepods/pod${uid}`, 'abc')
    tree.paths.clear()
    tree.paths.add(`/kubepods/burstable/pod${uid}`)
    assert.equal(finder.ofPod(uid), `/kubepods/burstable/pod${uid}`)
    assert.equal(finder.size, 2)
    finder.keep(new Set([uid]), new Set())
    assert.equal(finder.size, 1)
    finder.keep(new Set(), new Set())
    assert.equal(finder.size, 0)
  })

  test('finds none where pods have none', () => {
    const finder = new CgroupFinder(createTree('/'), { driver: 'cgroupfs', root: '/', perQos: false })
    assert.equal(finder.ofPod(uid), undefined)
  })
})
