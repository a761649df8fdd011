import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createPod } from '../../../../test/builders/create-pod.ts'
import { FakeClock } from '../../../../test/fakes/fake-clock.ts'
import { silentLogger } from '../../../base/telemetry/silent-logger.ts'
import { PodResizes } from './pod-resizes.ts'

function create(declaredFeatures: readonly string[] | undefined) {
  const events: string[] = []
  const resizes = new PodResizes({
    allocations: { allocated: (pod) => pod, isGranted: () => true, grant: () => {} },
    rules: {
      scope: { initContainers: true, podLevel: true },
      staticCpus: false,
      staticMemory: false,
      usesSwap: () => false,
    },
    declaredFeatures,
    find: () => undefined,
    admit: () => undefined,
    wake: () => {},
    onResized: () => {},
    events: { record: (_, { type, reason, message }) => void events.push(`${type} ${reason} ${message}`) },
    metrics: { resizeRequested: () => {}, resizeInfeasible: () => {}, deferredResizeAccepted: () => {} },
    clock: new FakeClock(),
    log: silentLogger,
  })
  return { resizes, events }
}

describe('PodResizes.updated()', () => {
  const before = createPod({ spec: { resources: { requests: { cpu: '1' } } } })
  const after = createPod({ spec: { resources: { requests: { cpu: '2' } } } })

  test('says on the pod that its change needs a feature which the node does not declare', () => {
    const { resizes, events } = create(['ExtendWebSocketsToKubelet'])
    resizes.updated(before, after)
    assert.deepEqual(events, [
      'Warning FailedNodeDeclaredFeaturesCheck Pod requires node features that are not available: InPlacePodLevelResourcesVerticalScaling',
    ])
  })

  test('says nothing where the feature is declared, or nothing is', () => {
    for (const declared of [['InPlacePodLevelResourcesVerticalScaling'], undefined]) {
      const { resizes, events } = create(declared)
      resizes.updated(before, after)
      assert.deepEqual(events, [])
    }
  })
})
