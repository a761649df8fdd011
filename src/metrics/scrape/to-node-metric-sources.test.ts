import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { loadFields } from '../../../test/fakes/load-settings.ts'
import { createPod } from '../../../test/builders/create-pod.ts'
import { emptyObservedPod } from '../../model/pod/observed-pod.ts'
import { toNodeMetricSources } from './to-node-metric-sources.ts'

test('toNodeMetricSources() reads gates, pods and what runs when asked', async () => {
  const settings = await loadFields({ featureGates: { ComponentFlagz: false } })
  const pod = createPod()
  const observed = emptyObservedPod(pod.metadata)
  const info = toNodeMetricSources({
    settings,
    machine: { cgroupVersion: 2 },
    registry: { views: () => [{ pod, status: { phase: 'Running' } }], states: () => [] },
    observer: { uids: () => [pod.metadata.uid, pod.metadata.uid], get: () => observed },
    certificates: { client: () => 1, server: () => Infinity },
    clock: new FakeClock(7),
  })
  const gate = (name: string) => info.gates().find((each) => each.name === name)
  assert.deepEqual(gate('ComponentFlagz'), { name: 'ComponentFlagz', stage: 'BETA', enabled: false })
  assert.deepEqual(gate('NodeLogQuery'), { name: 'NodeLogQuery', stage: '', enabled: true })
  assert.deepEqual([info.name, info.cgroupVersion, info.now()], ['node-1', 2, 7])
  assert.deepEqual(info.observed(), [observed, observed])
  assert.deepEqual(info.certificates(), { client: 1007, server: undefined })
  assert.equal(info.wanted()[0]?.pod, pod)
})
