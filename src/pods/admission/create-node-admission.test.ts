import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import { loadSettings } from '../../../test/fakes/load-settings.ts'
import type { ResourceProvider } from './create-node-admission.ts'
import { createNodeAdmission } from './create-node-admission.ts'
import type { Node } from '../../model/generated/core-v1.ts'
import type { Pod } from '../../model/pod/pod.ts'

const pod = (uid: string, cpu: string, priority = 0): Pod =>
  createPod({
    metadata: { name: uid, uid },
    spec: { priority, containers: [createContainer({ resources: { requests: { cpu } } })] },
  })

async function setUp() {
  const { gates } = await loadSettings([])
  const reported: string[] = []
  const given: string[] = []
  let active: readonly Pod[] = []
  let node: Node = { metadata: { name: 'node-1' } }
  const provider: ResourceProvider = {
    admit: ({ metadata }) => {
      given.push(`give ${metadata.uid}`)
      return metadata.uid === 'greedy' ? { reason: 'UnexpectedAdmissionError', message: 'none left' } : undefined
    },
    release: (uid) => void given.push(`release ${uid}`),
  }
  const admission = createNodeAdmission({
    settings: { gates, config: { allowedUnsafeSysctls: [] } },
    kernel: { release: '6.1.0', appArmor: false },
    features: () => ({ handlers: new Map(), supplementalGroupsPolicy: false, imageVolumes: 'none', stopSignals: true }),
    node: () => node,
    allocatable: () => ({ pods: '10', cpu: '1', 'example.com/gpu': '0', 'a.example/gpu': '1' }),
    takenDevices: () => new Map([['example.com/gpu', 1]]),
    admittedPods: () => active,
    endingPods: () => [],
    isShuttingDown: () => false,
    pressures: () => ({ memory: false, disk: false, pid: false }),
    hasResourceClaims: false,
    providers: [provider],
    declaredFeatures: [],
    evict: ({ metadata }, { reason, disruption }) =>
      void reported.push(`evict ${metadata.uid} ${reason} ${disruption}`),
    metrics: { preemption: (resource) => void reported.push(`preemption ${resource}`) },
    events: {
      record: ({ metadata }, { type, reason, message }) =>
        void reported.push(`${type} ${metadata.uid} ${reason} ${message}`),
    },
  })
  return {
    admission,
    reported,
    given,
    setActive: (...pods: readonly Pod[]) => (active = pods),
    setNode: (next: Node) => (node = next),
  }
}

const PREEMPTED = 'Pod was preempted by Kubelet to accommodate a critical pod.'

describe('createNodeAdmission()', () => {
  test('makes others leave for a critical pod, and gives their room away only once', async () => {
    const { admission, reported, setActive } = await setUp()
    const [small, large] = [pod('small', '300m'), pod('large', '700m')]
    setActive(small, large)
    const critical = pod('critical', '600m', 2_000_000_000)
    assert.equal(admission.admit(critical), undefined)
    assert.deepEqual(reported.splice(0), [
      'Warning large Preempting Preempted in order to admit critical pod',
      'preemption cpu',
      `evict large Preempting ${PREEMPTED}`,
    ])
    setActive(small, large, critical)
    assert.equal(admission.admit(pod('late', '200m'))?.reason, 'OutOfcpu')
    assert.equal(admission.admit(pod('little', '100m')), undefined)
    assert.equal(admission.admit(pod('second', '200m', 2_000_000_000)), undefined)
    assert.deepEqual(reported, [
      'Warning small Preempting Preempted in order to admit critical pod',
      'preemption cpu',
      `evict small Preempting ${PREEMPTED}`,
    ])
  })

  test('says what nothing on the node offers', async () => {
    const { admission, reported } = await setUp()
    const requests = { 'b.example/fpga': '1', 'a.example/gpu': '1' }
    const odd = createPod({
      metadata: { uid: 'odd' },
      spec: { containers: [createContainer({ resources: { requests } })] },
    })
    assert.deepEqual([admission.admit(odd), admission.admitResize(odd)], [undefined, undefined])
    assert.deepEqual(reported, [
      'Warning odd UnknownResource This node has no "b.example/fpga": containers that ask for it run without',
    ])
  })

  test('forgets those that have left', async () => {
    const { admission, reported, setActive } = await setUp()
    const large = pod('large', '700m')
    setActive(large)
    admission.admit(pod('critical', '600m', 2_000_000_000))
    setActive()
    admission.admit(pod('other', '1'))
    reported.length = 0
    setActive(large)
    assert.equal(admission.admit(pod('late', '600m'))?.reason, 'OutOfcpu')
  })

  test('counts nothing that a pod gets from a claim', async () => {
    const { admission, setActive } = await setUp()
    const requests = { 'a.example/gpu': '1' }
    const claimed = (uid: string) =>
      createPod({
        metadata: { uid },
        spec: { containers: [createContainer({ resources: { requests } })] },
        status: {
          extendedResourceClaimStatus: {
            resourceClaimName: 'extended',
            requestMappings: [{ containerName: 'main', resourceName: 'a.example/gpu', requestName: 'r' }],
          },
        },
      })
    const plain = createPod({ metadata: { uid: 'plain' }, spec: claimed('x').spec })
    setActive(claimed('other'))
    assert.deepEqual([admission.admit(plain), admission.admit(claimed('one'))], [undefined, undefined])
    setActive(plain)
    assert.equal(admission.admit(claimed('one')), undefined)
    assert.equal(
      admission.admit(createPod({ metadata: { uid: 'late' }, spec: plain.spec }))?.reason,
      'OutOfa.example/gpu',
    )
  })

  test('does not count a pod against itself', async () => {
    const { admission, setActive } = await setUp()
    const own = pod('own', '1')
    setActive(own)
    assert.equal(admission.admit(own), undefined)
  })

  test('leaves a pod that runs what it has for itself, whether it may grow or not', async () => {
    const { admission, given, setActive } = await setUp()
    setActive(pod('own', '500m'), pod('other', '300m'))
    assert.equal(admission.admitResize(pod('own', '700m')), undefined)
    assert.equal(admission.admitResize(pod('own', '800m'))?.reason, 'OutOfcpu')
    assert.deepEqual(given, [])
  })

  test('wants a fresh read of a node whose labels do not fit', async () => {
    const { admission, setNode } = await setUp()
    const choosy = createPod({ spec: { nodeSelector: { zone: 'a' } } })
    assert.deepEqual([admission.wantsFreshNode(choosy), admission.admit(choosy)?.reason], [true, 'NodeAffinity'])
    setNode({ metadata: { name: 'node-1', labels: { zone: 'a' } } })
    assert.deepEqual([admission.wantsFreshNode(choosy), admission.admit(choosy)], [false, undefined])
  })

  test('gives pods what they have for themselves before it checks the rest, and takes it back from those that are rejected', async () => {
    const { admission, given, setActive } = await setUp()
    assert.equal(admission.admit(pod('good', '1')), undefined)
    assert.equal(admission.admit(pod('greedy', '2'))?.reason, 'UnexpectedAdmissionError')
    setActive(pod('good', '1'))
    assert.equal(admission.admit(pod('late', '1'))?.reason, 'OutOfcpu')
    assert.deepEqual(given, ['give good', 'give greedy', 'release greedy', 'give late', 'release late'])
  })

  test('supports nothing that the runtime does not; a gate that is off is reason enough', async () => {
    const { admission } = await setUp()
    assert.deepEqual([...admission.capabilities()], ['runtimeStopSignals'])
  })
})
