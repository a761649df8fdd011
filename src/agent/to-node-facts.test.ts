import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../test/fakes/fake-clock.ts'
import { loadFields } from '../../test/fakes/load-settings.ts'
import { createPod } from '../../test/builders/create-pod.ts'
import { emptyObservedPod } from '../model/pod/observed-pod.ts'
import { toNodeFacts } from './to-node-facts.ts'

test('toNodeFacts() reads gates, pods and what runs when asked', async () => {
  const settings = await loadFields({ featureGates: { ComponentFlagz: false } })
  const pod = createPod()
  const observed = emptyObservedPod(pod.metadata)
  const facts = toNodeFacts({
    settings,
    machine: { cgroupVersion: 2 },
    workers: () => ({ views: () => [{ pod, status: { phase: 'Running' } }], explain: () => [] }),
    observer: () => ({ uids: () => [pod.metadata.uid, pod.metadata.uid], get: () => observed }),
    certificates: () => ({ client: 1, server: undefined }),
    clock: new FakeClock(7),
  })
  const gate = (name: string) => facts.gates().find((each) => each.name === name)
  assert.deepEqual(gate('ComponentFlagz'), { name: 'ComponentFlagz', stage: 'BETA', enabled: false })
  assert.deepEqual(gate('NodeLogQuery'), { name: 'NodeLogQuery', stage: '', enabled: true })
  assert.deepEqual([facts.name, facts.cgroupVersion, facts.now()], ['node-1', 2, 7])
  assert.deepEqual(facts.observed(), [observed, observed])
  assert.equal(facts.wanted()[0]?.pod, pod)
})
