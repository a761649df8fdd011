import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createCsiAgent, createCsiVolume } from '../../../../test/builders/create-csi-agent.ts'
import { createVolumePod } from '../../../../test/builders/create-volumes.ts'
import { FakeCsiNode } from '../../../../test/fakes/fake-csi-node.ts'
import type { PersistentVolume, Volume } from '../../../model/generated/core-v1.ts'
import { CsiCallError } from '../../../protocols/csi/csi-call-error.ts'
import type { GrpcCode } from '../../../protocols/grpc/grpc-code.ts'

const claimed: Volume = { name: 'data', persistentVolumeClaim: { claimName: 'vol' } }
const pod = createVolumePod(['data'], { volumes: [claimed] })
const key = { namespace: 'shop', name: 'vol' }
const PENDING = { allocatedResources: { storage: '2Gi' }, allocatedResourceStatuses: { storage: 'NodeResizePending' } }
const DONE = 'Normal FileSystemResizeSuccessful MountVolume.NodeExpandVolume succeeded for volume "pv-vol" node-1'

/** A node whose driver can expand, and a volume of which the cluster says that it has this size. */
async function setUp(capacity: string) {
  const node = new FakeCsiNode()
  node.capabilities = new Set(['STAGE_UNSTAGE_VOLUME', 'EXPAND_VOLUME'])
  const volumes = new Map<string, PersistentVolume>()
  const agent = createCsiAgent(node, volumes)
  const grow = (size: string, status: object) => {
    volumes.set('vol', createCsiVolume('vol', { capacity: { storage: size } }))
    agent.putClaim('vol', '1Gi', status)
  }
  grow(capacity, {})
  await agent.volumes.adopt()
  const step = async (wanted = pod) => {
    await agent.clock.advance(60_000)
    agent.keep(wanted)
    await agent.clock.advance(0)
  }
  const status = async () => {
    const claim = await agent.api.get('PersistentVolumeClaim', key, { cached: false }, new AbortController().signal)
    return claim.status
  }
  const calls = () => node.take().filter((call) => call.startsWith('NodeExpand'))
  return { ...agent, grow, step, status, calls }
}

function failWith(node: FakeCsiNode, code: GrpcCode): void {
  node.driver.expand = async () => {
    node.journal.push('NodeExpandVolume vol')
    throw new CsiCallError({ driver: 'd', method: 'NodeExpandVolume' }, { code, detail: 'no' })
  }
}

describe('expandVolume()', () => {
  test('makes a volume larger that the cluster made larger, at the start of a pod', async () => {
    const { node, ensure, events, status, calls } = await setUp('2Gi')
    await ensure(pod)
    assert.deepEqual(
      [calls(), events, (await status())?.capacity],
      [['NodeExpandVolume vol'], [DONE, `${DONE} (PersistentVolumeClaim vol)`], { storage: '2Gi' }],
    )
    const request = node.requests.find((one) => 'requiredBytes' in one)
    assert.equal(request !== undefined && 'requiredBytes' in request && request.requiredBytes, 2n * 1024n ** 3n)
  })

  test('does so while containers run, and leaves it at that', async () => {
    const { ensure, grow, step, events, status, calls } = await setUp('1Gi')
    await ensure(pod)
    await step()
    assert.deepEqual(calls(), [])
    grow('2Gi', { ...PENDING, conditions: [{ type: 'FileSystemResizePending', status: 'True' }] })
    await step()
    await step()
    assert.deepEqual([calls(), events], [['NodeExpandVolume vol'], [DONE, `${DONE} (PersistentVolumeClaim vol)`]])
    assert.deepEqual(await status(), {
      allocatedResources: { storage: '2Gi' },
      capacity: { storage: '2Gi' },
      conditions: [],
    })
  })

  test('a size that cannot be is reported in the claim, and the pod that starts waits', async () => {
    const { node, ensure, grow, events, status, calls, clock } = await setUp('1Gi')
    grow('2Gi', PENDING)
    failWith(node, 'OutOfRange')
    const given = new AbortController()
    const late = assert.rejects(ensure(pod, given.signal))
    await clock.advance(0)
    given.abort(new Error('enough'))
    await late
    assert.deepEqual(calls(), ['NodeExpandVolume vol'])
    assert.deepEqual(events, [
      'Warning FailedMount MountVolume.Setup failed while expanding volume for volume "pv-vol" : rpc error: code = OutOfRange desc = no',
    ])
    const { allocatedResourceStatuses, conditions } = (await status()) ?? {}
    assert.deepEqual(allocatedResourceStatuses, { storage: 'NodeResizeInfeasible' })
    assert.deepEqual(
      conditions?.map(({ type, message }) => [type, message]),
      [['NodeResizeError', 'failed to expand pvc with rpc error: code = OutOfRange desc = no']],
    )
  })

  test('a failure while containers run has its own event, and is tried again', async () => {
    const { node, ensure, grow, step, events, status, calls } = await setUp('1Gi')
    await ensure(pod)
    grow('2Gi', PENDING)
    failWith(node, 'Internal')
    await step()
    await step()
    assert.deepEqual(calls(), ['NodeExpandVolume vol', 'NodeExpandVolume vol'])
    const failure =
      'Warning VolumeResizeFailed NodeExpandVolume.NodeExpandVolume failed for volume "pv-vol" : rpc error: code = Internal desc = no'
    assert.deepEqual(events, [failure, failure])
    assert.deepEqual((await status())?.allocatedResourceStatuses, { storage: 'NodeResizeInProgress' })
  })

  test('a driver that can do it only while the volume is unused is not asked again, and keeps no pod waiting', async () => {
    const { node, ensure, step, calls } = await setUp('2Gi')
    failWith(node, 'FailedPrecondition')
    await ensure(pod)
    await step()
    assert.deepEqual(calls(), ['NodeExpandVolume vol'])
  })

  test('a driver that cannot need not, where nothing depends on it', async () => {
    const { node, ensure, calls, events } = await setUp('2Gi')
    node.capabilities = new Set()
    await ensure(pod)
    assert.deepEqual([calls(), events], [[], []])
  })

  test('what is read-only is not made larger, and that is reported once', async () => {
    const { ensure, step, calls, events } = await setUp('2Gi')
    const reader = createVolumePod(['data'], {
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'vol', readOnly: true } }],
    })
    await ensure(reader)
    await step(reader)
    assert.deepEqual(calls(), [])
    const failed =
      'Warning FileSystemResizeFailed MountVolume.NodeExpandVolume failed for volume "pv-vol" requested read-only file system'
    assert.deepEqual(events, [failed, `${failed} (PersistentVolumeClaim vol)`])
  })

  test('an API that is away is no trouble of what runs', async () => {
    const { ensure, step, api, events } = await setUp('1Gi')
    await ensure(pod)
    api.failure = new Error('away')
    await step()
    assert.deepEqual(events, [])
  })
})
