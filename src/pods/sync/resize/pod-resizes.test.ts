import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { createPod } from '../../../../test/builders/create-pod.ts'
import { FakeClock } from '../../../../test/fakes/fake-clock.ts'
import { silentLogger } from '../../../base/telemetry/silent-logger.ts'
import { PodResizes } from './pod-resizes.ts'
import type { PodResizesDeps } from './pod-resizes.ts'

const reasonsOf = (events: readonly string[]) => events.map((event) => event.split(' ')[1])

function create(deps: Partial<PodResizesDeps>) {
  const events: string[] = []
  const resizes = new PodResizes({
    allocations: { allocated: (pod) => pod, isGranted: () => true, grant: () => {} },
    rules: {
      scope: { initContainers: true, podLevel: true },
      staticCpus: false,
      staticMemory: false,
      usesSwap: () => false,
    },
    declaredFeatures: undefined,
    find: () => undefined,
    admit: () => undefined,
    wake: () => {},
    onResized: () => {},
    events: { record: (_, { type, reason, message }) => void events.push(`${type} ${reason} ${message}`) },
    metrics: { resizeRequested: () => {}, resizeInfeasible: () => {}, deferredResizeAccepted: () => {} },
    clock: new FakeClock(),
    log: silentLogger,
    ...deps,
  })
  return { resizes, events }
}

describe('PodResizes.updated()', () => {
  const before = createPod({ spec: { resources: { requests: { cpu: '1' } } } })
  const after = createPod({ spec: { resources: { requests: { cpu: '2' } } } })

  test('says on the pod that its change needs a feature which the node does not declare', () => {
    const { resizes, events } = create({ declaredFeatures: ['ExtendWebSocketsToKubelet'] })
    resizes.updated(before, after)
    assert.deepEqual(events, [
      'Warning FailedNodeDeclaredFeaturesCheck Pod requires node features that are not available: InPlacePodLevelResourcesVerticalScaling',
    ])
  })

  test('says nothing where the feature is declared, or nothing is', () => {
    for (const declared of [['InPlacePodLevelResourcesVerticalScaling'], undefined]) {
      const { resizes, events } = create({ declaredFeatures: declared })
      resizes.updated(before, after)
      assert.deepEqual(events, [])
    }
  })
})

describe('PodResizes.observed()', () => {
  test('says that a resize is complete when what was granted last is there, not what was granted before', () => {
    const sized = (cpu: string) => createPod({ spec: { resources: { requests: { cpu } } } })
    const [before, after] = [sized('1'), sized('2')]
    let granted = before
    const { resizes, events } = create({
      allocations: {
        allocated: () => granted,
        isGranted: ({ spec }) => isDeepStrictEqual(spec, granted.spec),
        grant: (pod) => void (granted = pod),
      },
      find: () => after,
    })
    resizes.sourcesReady()
    resizes.updated(before, after)
    resizes.observed(before, false)
    assert.deepEqual(reasonsOf(events), ['ResizeStarted'])
    resizes.observed(after, true)
    resizes.observed(after, false)
    assert.deepEqual(reasonsOf(events), ['ResizeStarted', 'ResizeCompleted'])
  })
})
