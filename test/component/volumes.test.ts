import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startAgent } from './create-agent.ts'
import { changes, createWantedContainer, createWantedPod, createWorld, running } from './create-world.ts'

const LINGER_MS = 5000

function podWithData(uid = 'u-1', name = 'data') {
  return createWantedPod(uid, {
    volumes: [{ name, emptyDir: {} }],
    containers: [
      createWantedContainer({
        volumeMounts: [
          { name, mountPath: '/data', readOnly: true },
          { name, mountPath: '/part', subPath: 'a/b' },
        ],
      }),
    ],
  })
}

describe('volumes of a pod', () => {
  test('are there before its sandbox, in its container, and gone before the pod is', async () => {
    await using world = await createWorld()
    await using agent = await startAgent(world)
    agent.setPods([podWithData()])
    await agent.settle()
    assert.deepEqual(running(world), ['main'])
    const [mounts] = world.cri.requests('createContainer').map(({ config }) => config?.mounts ?? [])
    assert.deepEqual(
      mounts?.map(({ containerPath, hostPath, readonly }) => [containerPath, hostPath, readonly]).slice(0, 2),
      [
        ['/data', '/root/pods/u-1/volumes/kubernetes.io~empty-dir/data', true],
        ['/part', '/root/pods/u-1/volume-subpaths/data/main/1', false],
      ],
    )
    const [explained] = agent.registry.explain()
    assert.deepEqual(explained?.steps.map(({ name }) => name).slice(0, 2), [
      'mount volume "data" (kubernetes.io/empty-dir)',
      'image of container "main"',
    ])
    assert.ok(explained?.steps.some(({ name }) => name === 'bind part of volume "data" for container "main"'))
    agent.setPods([])
    await agent.pass(1000)
    assert.deepEqual([world.volumeNode.mounts.size, world.volumeNode.others.size], [0, 0])
    await agent.pass(LINGER_MS)
    assert.equal(agent.workers.size, 0)
  })

  test('that hang hold up their pod and no other, and it says so', async () => {
    await using world = await createWorld()
    await using agent = await startAgent(world)
    world.volumeNode.behaviours.set('slow', 'hangs')
    agent.setPods([podWithData('hung', 'slow'), podWithData('u-2')])
    await agent.pass(40_000)
    assert.deepEqual(running(world), ['main'])
    const hung = agent.registry.explain().find(({ uid }) => uid === ('hung' as never))
    assert.match(hung?.why ?? '', /^mount volume "slow" \(kubernetes\.io\/empty-dir\), for 40\.0 s$/)
    assert.equal(agent.statusOf('hung')?.containerStatuses?.[0]?.state?.waiting?.reason, 'ContainerCreating')
    agent.setPods([podWithData('u-2')])
    await agent.pass(1000)
    world.volumeNode.behaviours.set('slow', 'good')
    world.volumeNode.letGo('slow')
    await agent.pass(LINGER_MS + 1000)
    assert.equal(agent.workers.size, 1)
    assert.equal(world.volumeNode.mounts.size, 1)
  })

  test('that do not go keep the pod, and it says so', async () => {
    await using world = await createWorld()
    await using agent = await startAgent(world)
    agent.setPods([podWithData()])
    await agent.settle()
    world.volumeNode.behaviours.set('data', 'hangs')
    agent.setPods([])
    await agent.pass(10_000)
    const [explained] = agent.registry.explain()
    assert.match(explained?.why ?? '', /; unmount volume "data" \(kubernetes\.io\/empty-dir\), for \d/)
    assert.deepEqual(running(world), [])
    world.volumeNode.behaviours.set('data', 'good')
    world.volumeNode.letGo('data')
    await agent.pass(LINGER_MS)
    assert.equal(agent.workers.size, 0)
  })

  test('are found again by the next agent; those of a pod that is gone are taken away', async () => {
    await using world = await createWorld()
    {
      await using first = await startAgent(world)
      first.setPods([podWithData(), podWithData('u-2')])
      await first.settle()
    }
    const before = changes(world).length
    await using agent = await startAgent(world)
    agent.setPods([podWithData()])
    await agent.pass(LINGER_MS + 2000)
    assert.deepEqual([...world.volumeNode.mounts], ['/root/pods/u-1/volumes/kubernetes.io~empty-dir/data'])
    assert.deepEqual(running(world), ['main'])
    assert.ok(
      changes(world)
        .slice(before)
        .every((change) => !change.startsWith('create')),
    )
    assert.deepEqual(
      agent.volumes.mounted().map(({ uid }) => uid),
      ['u-1'],
    )
  })
})
