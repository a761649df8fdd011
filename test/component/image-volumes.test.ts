import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ImageVolumeSource, VolumeMount } from '../../src/model/generated/core-v1.ts'
import { startAgent } from './create-agent.ts'
import { changes, createWantedContainer, createWantedPod, createWorld, instanceOf, running } from './create-world.ts'

const CONTAINERD_2 = { name: 'containerd', version: 'v2.2.0' }
const DATA = 'registry.test/data:1'

function podWithData(image: ImageVolumeSource = {}, mount: Partial<VolumeMount> = {}) {
  const volumeMounts = [{ name: 'data', mountPath: '/data', ...mount }]
  const env = [{ name: 'PART', value: 'b' }]
  return createWantedPod('u-1', {
    volumes: [{ name: 'data', image: { reference: DATA, pullPolicy: 'IfNotPresent', ...image } }],
    containers: [
      createWantedContainer({ name: 'reader', volumeMounts, env }),
      createWantedContainer({ name: 'other' }),
    ],
  })
}

describe('a volume that is an image', () => {
  test('is pulled and mounted read-only, whole or in part', async () => {
    await using world = await createWorld({ version: CONTAINERD_2 })
    await using agent = await startAgent(world)
    agent.setPods([podWithData({}, { subPathExpr: 'a/$(PART)' })])
    await agent.settle()
    assert.deepEqual(running(world), ['other', 'reader'])
    assert.deepEqual(
      world.cri.requests('pullImage').map(({ image, sandboxConfig }) => [image?.image, sandboxConfig?.metadata?.uid]),
      [[DATA, 'u-1']],
    )
    const [reader, other] = world.cri.requests('createContainer').map(({ config }) => config?.mounts ?? [])
    assert.deepEqual(
      other?.map(({ containerPath }) => containerPath),
      ['/etc/hosts'],
    )
    const { containerPath, hostPath, readonly, image, imageSubPath } = reader?.[0] ?? {}
    assert.deepEqual(
      { containerPath, hostPath, readonly, imageSubPath },
      { containerPath: '/data', hostPath: '', readonly: true, imageSubPath: 'a/b' },
    )
    assert.deepEqual([image?.image, image?.userSpecifiedImage], [world.cri.images.find(DATA)?.id, DATA])
    const reported = agent.events.filter(({ message }) => message.includes(DATA))
    assert.deepEqual(
      reported.map(({ reason, fieldPath }) => [reason, fieldPath]),
      [
        ['Pulling', undefined],
        ['Pulled', undefined],
      ],
    )
  })

  test('that cannot be had keeps only those from starting that mount it', async () => {
    await using world = await createWorld({ version: CONTAINERD_2 })
    world.cri.script.fail('pullImage', 'Unknown', 'no such image', 1)
    await using agent = await startAgent(world)
    agent.setPods([podWithData()])
    await agent.settle()
    assert.deepEqual(running(world), ['other'])
    const waiting = () =>
      agent.statusOf('u-1')?.containerStatuses?.find(({ name }) => name === 'reader')?.state?.waiting
    assert.deepEqual(waiting(), { reason: 'ErrImagePull', message: 'no such image' })
    const failed = agent.events.findLast(({ fieldPath }) => fieldPath === 'spec.containers{reader}')
    assert.deepEqual([failed?.reason, failed?.message], ['Failed', 'Error: ErrImagePull: no such image'])
    await agent.pass(5000)
    await agent.pass(20_000)
    assert.deepEqual(running(world), ['other', 'reader'])
  })

  test('is checked in every pass, and pulled in every pass if its policy says so', async () => {
    for (const [pullPolicy, expected] of [
      ['Always', true],
      ['IfNotPresent', false],
    ] as const) {
      await using world = await createWorld({ version: CONTAINERD_2 })
      await using agent = await startAgent(world)
      agent.setPods([podWithData({ pullPolicy })])
      await agent.settle()
      const pulls = () => world.cri.requests('pullImage').length
      const [before, events] = [pulls(), agent.events.length]
      await agent.pass(120_000, 10_000)
      assert.equal(pulls() > before, expected, pullPolicy)
      if (!expected) assert.equal(agent.events.length, events, 'nothing is reported again and again')
      world.cri.images.remove(DATA)
      await agent.pass(120_000, 10_000)
      assert.ok(world.cri.images.find(DATA) !== undefined, 'it is pulled again')
    }
  })

  test('that the runtime cannot mount is a reason of its own', async () => {
    await using world = await createWorld({ version: CONTAINERD_2 })
    world.cri.script.fail('createContainer', 'Unknown', 'ImageVolumeMountFailed: no such part', 1)
    await using agent = await startAgent(world)
    agent.setPods([podWithData({}, { subPath: 'none' })])
    await agent.settle()
    const reader = agent.statusOf('u-1')?.containerStatuses?.find(({ name }) => name === 'reader')
    assert.deepEqual(reader?.state?.waiting, {
      reason: 'ImageVolumeMountFailed',
      message: 'ImageVolumeMountFailed: no such part',
    })
  })

  const refused: readonly (readonly [version: string, mount: Partial<VolumeMount>, path: string])[] = [
    ['1.6.20~ds1', {}, 'spec.volumes[0].image'],
    ['v2.1.4', { subPath: 'a' }, 'spec.containers[0].volumeMounts'],
  ]
  for (const [version, mount, path] of refused) {
    test(`is refused by containerd ${version} with ${JSON.stringify(mount)}`, async () => {
      await using world = await createWorld({ version: { name: 'containerd', version } })
      await using agent = await startAgent(world)
      agent.setPods([podWithData({}, mount)])
      await agent.settle()
      assert.deepEqual(changes(world), [])
      assert.equal(agent.statusOf('u-1')?.reason, 'UnsupportedField')
      assert.ok(agent.events.some(({ message }) => message.startsWith(`Rejected ${path}: the container runtime can`)))
    })
  }

  test('is whole with containerd 2.1', async () => {
    await using world = await createWorld({ version: { name: 'containerd', version: 'v2.1.4' } })
    await using agent = await startAgent(world)
    agent.setPods([podWithData()])
    await agent.settle()
    assert.ok(instanceOf(world, 'reader') !== '')
  })

  test('is tried with a runtime of any other name', async () => {
    await using world = await createWorld({ version: { name: 'youki-cri', version: '0.1.0' } })
    await using agent = await startAgent(world)
    agent.setPods([podWithData({}, { subPath: 'a' })])
    await agent.settle()
    assert.deepEqual(running(world), ['other', 'reader'])
  })

  test('explains the error of such a runtime', async () => {
    await using world = await createWorld({ version: { name: 'youki-cri', version: '0.1.0' } })
    world.cri.script.fail('createContainer', 'Unknown', 'stat "": no such file', 1)
    await using agent = await startAgent(world)
    agent.setPods([podWithData()])
    await agent.settle()
    const reader = agent.statusOf('u-1')?.containerStatuses?.find(({ name }) => name === 'reader')
    assert.deepEqual(reader?.state?.waiting, {
      reason: 'CreateContainerError',
      message: 'stat "": no such file (the container mounts images, which this container runtime may not support)',
    })
  })
})
