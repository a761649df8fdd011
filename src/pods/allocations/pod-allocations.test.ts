import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createInstance, createObservedPod } from '../../../test/builders/create-observed-pod.ts'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import { FakeStateFile } from '../../../test/fakes/fake-state-file.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import type { ResourceRequirements } from '../../model/generated/core-v1.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { PodAllocations } from './pod-allocations.ts'

const sized = (cpu: string): ResourceRequirements => ({ requests: { cpu }, limits: { cpu } })
const podOf = (resources: ResourceRequirements) => createPod({ spec: { containers: [createContainer({ resources })] } })
const [small, large] = [podOf(sized('1')), podOf(sized('2'))]
const { uid } = small.metadata
const resourcesOf = ({ spec }: Pod) => spec.containers[0]?.resources

const load = async (
  files = { allocated: new FakeStateFile('allocated'), actuated: new FakeStateFile('actuated') },
  scope = { initContainers: true, podLevel: true },
) => ({ files, allocations: await PodAllocations.load({ files, scope, log: silentLogger }) })

describe('PodAllocations', () => {
  test('keeps to what was granted until something else is', async () => {
    const { allocations } = await load()
    assert.equal(allocations.allocated(small), small, 'a pod that was never seen')
    allocations.admit(small)
    allocations.admit(large)
    assert.equal(allocations.isGranted(large), false)
    assert.deepEqual(resourcesOf(allocations.allocated(large)), sized('1'))
    allocations.grant(large)
    assert.equal(allocations.isGranted(large), true)
    assert.equal(allocations.allocated(large), large)
  })

  test('gives the same object for the same pod', async () => {
    const { allocations } = await load()
    allocations.admit(small)
    assert.equal(allocations.allocated(large), allocations.allocated(large))
    assert.equal(allocations.reserved(large), allocations.reserved(large))
  })

  test('takes room for free only when it was given up', async () => {
    const { allocations } = await load()
    allocations.admit(large)
    allocations.noteContainer(large, 'main', sized('2'))
    allocations.grant(small)
    assert.deepEqual(resourcesOf(allocations.allocated(small)), sized('1'))
    assert.deepEqual(resourcesOf(allocations.reserved(small))?.requests, { cpu: '2' })
    allocations.noteContainer(small, 'main', sized('1'))
    assert.deepEqual(resourcesOf(allocations.reserved(small))?.requests, { cpu: '1' })
  })

  test('knows with the next agent what it knew with the last', async () => {
    const { files, allocations } = await load()
    allocations.admit(small)
    allocations.noteContainer(small, 'main', sized('1'))
    await allocations.saved()
    const next = (await load(files)).allocations
    assert.deepEqual(resourcesOf(next.allocated(large)), sized('1'))
    assert.deepEqual(next.actuated(uid), allocations.actuated(uid))
    next.forgetUnknown(() => false)
    assert.equal(next.allocated(large), large)
    assert.equal(next.actuated(uid), undefined)
  })

  test('takes what runs as it is where nothing is known, and nowhere else', async () => {
    const { allocations } = await load()
    const observed = createObservedPod({ containers: [createInstance()] })
    allocations.adopt(small, observed)
    allocations.adopt(large, observed)
    assert.deepEqual(resourcesOf(allocations.allocated(large)), sized('1'))
    assert.deepEqual(allocations.actuated(uid)?.containers.get('main'), sized('1'))
  })

  test('remembers nothing of what never changes its size', async () => {
    const { allocations } = await load(undefined, { initContainers: false, podLevel: false })
    const pod = createPod({ spec: { initContainers: [createContainer({ name: 'prepare' })], resources: sized('1') } })
    allocations.noteContainer(pod, 'prepare', {})
    assert.equal(allocations.actuated(uid), undefined)
    allocations.noteContainer(pod, 'main', {})
    assert.deepEqual(allocations.actuated(uid), { containers: new Map([['main', {}]]), pod: undefined })
  })
})
