import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Container } from '../../model/generated/core-v1.ts'
import { parsePodUid } from '../../model/pod/pod.ts'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import { createVolumePod, createVolumes } from '../../../test/builders/create-volumes.ts'
import { EMPTY_DIR, FakeVolumeNode, LOCAL } from '../../../test/fakes/fake-volume-node.ts'

const uid = parsePodUid('u-1')

describe('Volumes.ensure()', () => {
  test('does nothing for a pod that uses no volume', async () => {
    const { volumes, node, ensure, assertClean } = createVolumes()
    await ensure(createPod({ spec: { volumes: [{ name: 'unused', persistentVolumeClaim: { claimName: 'none' } }] } }))
    assert.deepEqual([node.journal, volumes.counts()], [[], []])
    assertClean()
  })

  test('mounts all volumes once, in parallel, and reports what it does', async () => {
    const { volumes, node, steps, counted, ensure, assertClean } = createVolumes()
    node.behaviours.set('a', 'hangs')
    const pod = createVolumePod(['a', 'b'])
    const first = ensure(pod)
    await Promise.resolve()
    await new Promise(setImmediate)
    assert.deepEqual(node.journal, ['mount u-1/a', 'mount u-1/b'])
    assert.deepEqual(volumes.counts(), [{ plugin: EMPTY_DIR, desired: 2, actual: 2 }])
    node.letGo('a')
    await first
    await ensure(pod)
    assert.deepEqual(node.journal, ['mount u-1/a', 'mount u-1/b'])
    assert.deepEqual(steps, [
      'mount volume "a" (kubernetes.io/empty-dir)',
      'mount volume "b" (kubernetes.io/empty-dir)',
    ])
    assert.deepEqual(counted, [`${EMPTY_DIR} volume_mount false`, `${EMPTY_DIR} volume_mount false`])
    assertClean()
  })

  test('tries a failing volume again with back-off, reports the trouble now and then, and fails after 2m3s', async () => {
    const { node, clock, events, ensure, assertClean } = createVolumes()
    node.behaviours.set('a', 'fails')
    const pod = createVolumePod(['a', 'b'])
    const failure = assert.rejects(ensure(pod), {
      name: 'VolumesError',
      message: 'unmounted volumes=[a], unattached volumes=[], failed to process volumes=[]: context deadline exceeded',
    })
    const tries = () => node.journal.filter((line) => line === 'mount u-1/a').length
    const seen: number[] = []
    for (const ms of [0, 499, 1, 1000, 2000, 4000, 8000, 16_000, 32_000, 59_500]) {
      await clock.advance(ms)
      seen.push(tries())
    }
    assert.deepEqual(seen, [1, 1, 2, 3, 4, 5, 6, 7, 8, 8])
    await failure
    const own = 'Warning FailedMount MountVolume.SetUp failed for volume "a" : no a'
    const all =
      'Warning FailedMount Unable to attach or mount volumes: unmounted volumes=[a], unattached volumes=[], failed to process volumes=[]: context deadline exceeded'
    assert.deepEqual(events, [own, own, all], 'eight tries')
    assertClean()
    const impatient = assert.rejects(ensure(pod), /context deadline exceeded/)
    await clock.advance(0)
    assert.equal(tries(), 8, 'a new caller does not restart the back-off')
    node.behaviours.set('a', 'fails')
    await clock.advance(123_000)
    await impatient
    assert.equal(tries(), 9)
    assertClean()
  })

  test('reports the same trouble again when all was well in between', async () => {
    const { node, clock, events, ensure } = createVolumes()
    const volumes = [{ name: 'a', configMap: { name: 'x' } }]
    node.behaviours.set('a', 'fails')
    const coming = ensure(createVolumePod(['a'], { volumes }))
    await clock.advance(0)
    node.behaviours.set('a', 'good')
    await clock.advance(500)
    await coming
    node.behaviours.set('a', 'fails')
    await clock.advance(10_000)
    await ensure(createVolumePod(['a'], { volumes }))
    await clock.advance(0)
    assert.equal(events.length, 2)
  })

  test('does not wait for a back-off when what was missing has come', async () => {
    const { node, clock, volumes, ensure, assertClean } = createVolumes()
    node.behaviours.set('a', 'fails')
    const coming = ensure(createVolumePod(['a'], { volumes: [{ name: 'a', configMap: { name: 'x' } }] }))
    await clock.advance(10_000)
    node.behaviours.set('a', 'good')
    volumes.contentChanged(uid)
    await coming
    assertClean()
  })

  test('fails at once when a volume cannot be found out; the others come meanwhile', async () => {
    const { node, clock, events, ensure, assertClean } = createVolumes({
      findSource: async (_, { volume }) => {
        if (volume.persistentVolumeClaim !== undefined)
          throw new Error(`no claim ${volume.persistentVolumeClaim.claimName}`)
        return { kind: 'inline', volume }
      },
    })
    const claim = (name: string) => ({ name, persistentVolumeClaim: { claimName: `of-${name}` } })
    const pod = createVolumePod(['d', 'c', 'a'], { volumes: [claim('d'), claim('c'), { name: 'a', emptyDir: {} }] })
    node.behaviours.set('a', 'hangs')
    const text =
      'unmounted volumes=[a c d], unattached volumes=[], failed to process volumes=[c d]: no claim of-c; no claim of-d'
    await assert.rejects(ensure(pod), { message: text })
    await assert.rejects(ensure(pod), { message: text })
    node.letGo('a')
    await clock.advance(0)
    assert.deepEqual(node.journal, ['mount u-1/a'])
    assert.deepEqual(events, [`Warning FailedMount Unable to attach or mount volumes: ${text}`])
    assertClean()
  })

  test('says why a kind is not there', async () => {
    const { ensure, assertClean } = createVolumes()
    await assert.rejects(ensure(createVolumePod(['x'], { volumes: [{ name: 'x', iscsi: {} as never }] })), {
      message: 'unmounted volumes=[x], unattached volumes=[], failed to process volumes=[x]: no such kind',
    })
    assertClean()
  })

  test('an aborted wait leaves the mount under way; the next one joins it', async () => {
    const { node, clock, ensure, assertClean } = createVolumes()
    node.behaviours.set('a', 'hangs')
    const controller = new AbortController()
    const pod = createVolumePod(['a'])
    const given = assert.rejects(ensure(pod, controller.signal), /enough/)
    await clock.advance(0)
    controller.abort(new Error('enough'))
    await given
    const second = ensure(pod)
    await clock.advance(1000)
    node.letGo('a')
    await second
    assert.deepEqual(node.journal, ['mount u-1/a'])
    assertClean()
  })

  test('a hung volume holds up its own pod only, and the end of the agent ends it', async () => {
    const { node, clock, shutdown, group, ensure } = createVolumes()
    node.behaviours.set('slow', 'hangs')
    const hung = assert.rejects(ensure(createVolumePod(['slow'])), /leave/)
    for (let n = 2; n < 20; n += 1) await ensure(createVolumePod(['a'], { uid: `u-${n}` }))
    shutdown.abort(new Error('leave'))
    await hung
    await group.join()
    assert.equal(clock.sleeping, 0)
  })

  test('refreshes what may change, in the background, and a failure of that harms nothing', async () => {
    const { node, clock, volumes, events, ensure, mountsOf, assertClean } = createVolumes()
    const volumes_ = [
      { name: 'cfg', configMap: { name: 'x' } },
      { name: 'a', emptyDir: {} },
    ]
    const pod = createVolumePod(['cfg', 'a'], { volumes: volumes_ })
    await ensure(pod)
    await ensure(pod)
    assert.equal(node.journal.length, 2, 'looks that follow each other do not refresh')
    node.behaviours.set('cfg', 'hangs')
    await clock.advance(10_000)
    await ensure(pod)
    volumes.contentChanged(uid)
    await ensure(pod)
    assert.equal(node.journal.filter((line) => line === 'mount u-1/cfg').length, 2)
    node.behaviours.set('cfg', 'fails')
    node.letGo('cfg')
    await clock.advance(0)
    assert.equal(node.journal.filter((line) => line === 'mount u-1/cfg').length, 3, 'what changed meanwhile is mounted')
    assert.deepEqual(events, ['Warning FailedMount MountVolume.SetUp failed for volume "cfg" : no cfg'])
    assert.equal((await mountsOf(pod.spec.containers[0] as Container, pod)).mounts.length, 2)
    node.behaviours.set('cfg', 'good')
    await clock.advance(500)
    await ensure({ ...pod })
    await clock.advance(0)
    assert.deepEqual([node.journal.filter((line) => line === 'mount u-1/a').length, events.length], [1, 1])
    assertClean()
  })

  test('a volume for one pod is refused to a second one until the first is gone', async () => {
    const volume = { metadata: { name: 'pv-1' }, spec: { accessModes: ['ReadWriteOncePod'], local: { path: '/x' } } }
    const { node, clock, events, ensure, release, volumes, assertClean } = createVolumes({
      findSource: async () => ({ kind: 'persistent', volume, claim: { namespace: 'shop', name: 'data' } }),
    })
    const claim = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }]
    await ensure(createVolumePod(['data'], { volumes: claim }))
    const second = ensure(createVolumePod(['data'], { uid: 'u-2', volumes: claim }))
    await clock.advance(1000)
    assert.deepEqual(events, [
      'Warning FailedMount MountVolume.SetUp failed for volume "pv-1" : volume uses the ReadWriteOncePod access mode and is already in use by another pod',
    ])
    await release()
    await clock.advance(1000)
    await second
    assert.deepEqual(volumes.groups(parsePodUid('u-2')), [7])
    assert.deepEqual(volumes.groups(uid), [])
    assert.equal(volumes.pathOf(parsePodUid('u-2'), 'data'), node.path('u-2', LOCAL, 'pv-1'))
    assert.equal(volumes.pathOf(uid, 'data'), undefined)
    assert.deepEqual(volumes.mounted(), [
      {
        uid: 'u-2',
        pod: { namespace: 'shop', name: 'web' },
        name: 'data',
        path: node.path('u-2', LOCAL, 'pv-1'),
        measure: 'walk',
        isLocalEphemeral: false,
        pvcRef: { namespace: 'shop', name: 'data' },
      },
    ])
    assertClean()
  })

  test('does not ask for a claim again whose volume is there', async () => {
    let asked = 0
    const volume = { metadata: { name: 'pv-1' }, spec: { local: { path: '/x' } } }
    const { ensure } = createVolumes({
      findSource: async () => {
        asked += 1
        if (asked > 1) throw new Error('away')
        return { kind: 'persistent', volume, claim: { namespace: 'shop', name: 'data' } }
      },
    })
    const pod = createVolumePod(['data'], { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] })
    await ensure(pod)
    await ensure({ ...pod })
    assert.equal(asked, 1)
  })
})

describe('Volumes.keep()', () => {
  test('mounts what is missing in the background, one round at a time', async () => {
    const { node, clock, volumes, keep, ensure, assertClean } = createVolumes()
    node.behaviours.set('a', 'fails')
    const pod = createVolumePod(['a', 'b'])
    keep(pod)
    keep(pod)
    await clock.advance(600)
    assert.deepEqual(node.journal, ['mount u-1/a', 'mount u-1/b', 'mount u-1/a'])
    // A caller that waits takes over.
    const waiting = ensure(pod)
    node.behaviours.set('a', 'good')
    await clock.advance(1000)
    await waiting
    assert.equal(node.journal.length, 4)
    keep(pod)
    await clock.advance(0)
    assert.deepEqual([node.journal.length, volumes.mounted().length], [4, 2])
    assertClean()
  })

  test('gives up after a while, is begun again by the next pass, and ends with the pod', async () => {
    const { node, clock, events, keep, release, assertClean } = createVolumes({
      findSource: async () => {
        throw new Error('away')
      },
    })
    const pod = createVolumePod(['a'])
    keep(pod)
    await clock.advance(0)
    keep(pod)
    await clock.advance(0)
    assert.deepEqual([node.journal.length, events.length], [0, 1])
    await release()
    assertClean()
  })

  test('what was being resolved when the pod ended is not mounted any more', async () => {
    const found = Promise.withResolvers<void>()
    const { node, clock, volumes, keep, release, assertClean } = createVolumes({
      findSource: async (_, { volume }) => {
        await found.promise
        return { kind: 'inline', volume }
      },
    })
    keep(createVolumePod(['a']))
    await clock.advance(0)
    await release()
    found.resolve()
    await clock.advance(0)
    assert.deepEqual([node.journal, volumes.has(uid)], [[], false])
    assertClean()
  })
})

describe('Volumes.release()', () => {
  test('takes parts away first, then the volumes, and forgets the pod', async () => {
    const { node, steps, volumes, ensure, release, mountsOf, assertClean } = createVolumes()
    const pod = createVolumePod(['a', 'b'])
    await ensure(pod)
    const volumeMounts = [{ name: 'b', mountPath: '/b', subPath: 'x/y' }]
    await mountsOf(createContainer({ volumeMounts }), pod)
    node.journal.length = 0
    await release()
    assert.deepEqual(node.journal, ['release parts /pods/u-1/volume-subpaths/b', 'unmount u-1/a', 'unmount u-1/b'])
    assert.deepEqual(steps.slice(-2), [
      'unmount volume "a" (kubernetes.io/empty-dir)',
      'unmount volume "b" (kubernetes.io/empty-dir)',
    ])
    assert.deepEqual([volumes.counts(), node.mounts.size, node.others.size], [[], 0, 0])
    await release()
    assert.equal(node.journal.length, 3, 'a pod without volumes costs nothing')
    assertClean()
  })

  test('goes on until it works, without an event', async () => {
    const { node, clock, events, ensure, release, assertClean } = createVolumes()
    await ensure(createVolumePod(['a']))
    node.behaviours.set('a', 'fails')
    const releasing = release()
    await clock.advance(1500)
    node.behaviours.set('a', 'good')
    await clock.advance(2000)
    await releasing
    assert.deepEqual([events, node.mounts.size], [[], 0])
    assertClean()
  })

  test('fails after 2m3s and can be asked again', async () => {
    const { node, clock, ensure, release, assertClean } = createVolumes()
    await ensure(createVolumePod(['a', 'b']))
    node.behaviours.set('a', 'hangs')
    const failed = assert.rejects(release(), {
      name: 'VolumesError',
      message: 'Cannot unmount volumes [a]: Cannot finish unmounting volumes: no end after 123000 ms',
    })
    await clock.advance(123_000)
    await failed
    const again = release()
    await clock.advance(0)
    node.behaviours.set('a', 'good')
    node.letGo('a')
    await again
    assert.equal(node.mounts.size, 0)
    assertClean()
  })

  test('gives up a mount that is under way and takes down what came of it', async () => {
    const { node, clock, ensure, release, assertClean } = createVolumes()
    node.behaviours.set('a', 'hangs')
    const controller = new AbortController()
    const waiting = assert.rejects(ensure(createVolumePod(['a']), controller.signal), /ends/)
    await clock.advance(0)
    controller.abort(new Error('ends'))
    await waiting
    const released = release()
    await clock.advance(0)
    node.behaviours.set('a', 'good')
    node.letGo('a')
    await released
    assert.deepEqual([node.journal, node.mounts.size], [['mount u-1/a', 'unmount u-1/a'], 0])
    assertClean()
  })

  test('a pod that is wanted again stops the release and gets its volumes', async () => {
    const { node, clock, ensure, release, assertClean } = createVolumes()
    await ensure(createVolumePod(['a', 'b']))
    node.behaviours.set('a', 'fails')
    const released = assert.rejects(release(), /The pod is wanted again/)
    await clock.advance(0)
    node.behaviours.set('a', 'good')
    await ensure(createVolumePod(['a', 'b']))
    await released
    assert.equal(node.mounts.size, 2)
    assertClean()
  })
})

describe('Volumes.adopt()', () => {
  test('finds what an earlier agent left: a wanted pod keeps it, an unwanted one is released', async () => {
    const before = createVolumes()
    await before.ensure(createVolumePod(['a', 'gone']))
    before.node.journal.length = 0
    const { node, counted, volumes, ensure, release, assertClean } = createVolumes({}, before.node)
    await volumes.adopt()
    assert.deepEqual(counted, ['found true', 'found true'])
    assert.deepEqual(volumes.counts(), [{ plugin: EMPTY_DIR, desired: 0, actual: 2 }])
    await ensure(createVolumePod(['a']))
    assert.deepEqual(node.journal, ['mount u-1/a'])
    await release()
    assert.deepEqual([node.journal.slice(1).sort(), node.mounts.size], [['unmount u-1/a', 'unmount u-1/gone'], 0])
    assertClean()
  })

  test('a failure after a restart does not count as unmounted: containers may use it', async () => {
    const before = createVolumes()
    await before.ensure(createVolumePod(['a']))
    const { node, clock, volumes, ensure } = createVolumes({}, before.node)
    await volumes.adopt()
    node.behaviours.set('a', 'fails')
    const failed = assert.rejects(ensure(createVolumePod(['a'])), /context deadline exceeded/)
    await clock.advance(123_000)
    await failed
    assert.deepEqual(volumes.counts(), [{ plugin: EMPTY_DIR, desired: 1, actual: 1 }])
  })

  test('only unmounts what no kind knows, and leaves alone what is mounted elsewhere', async () => {
    const node = new FakeVolumeNode()
    const foreign = node.path('u-1', 'example.org/flex', 'disk')
    const stray = `${node.root}/pods/u-1/volume-subpaths/old/main/0`
    node.mounts.add(foreign)
    node.data.add(node.path('u-1', 'example.org/other', 'rest'))
    node.others.add(stray)
    const foreignMounts = [`${node.root}/pods/u-1/elsewhere`, `${node.root}/pods/u-1/volumes/kubernetes.io~nfs`]
    for (const point of foreignMounts) node.others.add(point)
    const looksLikeOurs = node.path('u-1', 'kubernetes.io/nfs', 'share')
    node.data.add(looksLikeOurs)
    const { counted, volumes, release, assertClean } = createVolumes({}, node)
    await volumes.adopt()
    assert.deepEqual(volumes.counts(), [{ plugin: 'other', desired: 0, actual: 2 }])
    await release()
    assert.deepEqual([node.mounts.size, [...node.others], node.data.size], [0, foreignMounts, 2])
    assert.deepEqual(
      node.journal.filter((line) => foreignMounts.some((point) => line.endsWith(point.slice(node.root.length)))),
      [],
    )
    assert.deepEqual(counted.slice(0, 2), ['found false', 'found false'])
    assertClean()
  })

  test('takes the empty directories away that an agent left which died after the last volume', async () => {
    const node = new FakeVolumeNode()
    node.emptyFolders.add(uid)
    const { volumes, release, assertClean } = createVolumes({}, node)
    await volumes.adopt()
    assert.equal(volumes.has(uid), true)
    await release()
    assert.deepEqual([node.emptyFolders.size, volumes.has(uid)], [0, false])
    assertClean()
  })
})
