import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { call } from '../api-server/api-client.ts'
import { createWorkloadWorld } from './create-workload-world.ts'
import type { AnyObject, WorkloadWorld } from './create-workload-world.ts'

const labels = { app: 'web' }
const deployment = (replicas: number) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    replicas,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'a' }] } },
  },
})
const budget = (name: string, spec: object) => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name },
  spec: { selector: { matchLabels: labels }, ...spec },
})
const allowed = (world: WorkloadWorld, name: string, count: number): Promise<AnyObject> =>
  world.until(
    'the budget',
    () => world.get('poddisruptionbudgets', name),
    ({ status }) => status.observedGeneration === 1 && (status.disruptionsAllowed ?? 0) === count,
  )
const evict = (world: WorkloadWorld, name: string) => {
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } }
  return call(world.api, 'POST', `/api/v1/namespaces/default/pods/${name}/eviction`, { body })
}

describe('disruption budgets', () => {
  test('let as many pods be evicted as they have room for; a deletion does not ask', async (t) => {
    const world = await createWorkloadWorld(t)
    await world.create('deployments', deployment(2))
    await world.create('poddisruptionbudgets', budget('b', { minAvailable: 2 }))
    await world.until(
      'two pods',
      () => world.get('poddisruptionbudgets', 'b'),
      ({ status }) => status.currentHealthy === 2,
    )
    const [first] = await world.list('pods')
    const refused = await evict(world, first.metadata.name)
    assert.equal(refused.status, 429)
    assert.equal(
      refused.body.details.causes[0].message,
      'The disruption budget b needs 2 healthy pods and has 2 currently',
    )
    await world.patch('deployments', 'web/scale', { spec: { replicas: 3 } })
    const { status } = await allowed(world, 'b', 1)
    assert.equal(status.conditions[0].reason, 'SufficientPods')
    world.endsPods = false
    assert.equal((await evict(world, first.metadata.name)).status, 201)
    const evicted = await world.get('pods', first.metadata.name)
    assert.equal(
      evicted.status.conditions.find(({ type }: AnyObject) => type === 'DisruptionTarget').reason,
      'EvictionByEvictionAPI',
    )
    const second = (await world.list('pods')).find(({ metadata }) => metadata.deletionTimestamp === undefined)
    const answers = [await evict(world, second.metadata.name)]
    assert.equal(answers[0]?.status, 429)
    await world.remove('pods', second.metadata.name)
  })

  test('say what is wrong with the pods that they select', async (t) => {
    const world = await createWorkloadWorld(t)
    await world.create('poddisruptionbudgets', budget('b', { maxUnavailable: 1 }))
    await world.until(
      'no pods',
      () => world.events('NoPods'),
      ([message]) => message === 'No matching pods found',
    )
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'bare', labels },
      spec: deployment(1).spec.template.spec,
    }
    await world.create('pods', pod)
    const [unmanaged] = await world.until(
      'a pod without a controller',
      () => world.events('UnmanagedPods'),
      (found) => found.length > 0,
    )
    assert.match(
      unmanaged ?? '',
      /^Pods selected by this PodDisruptionBudget \(selector: &LabelSelector\{MatchLabels:map\[string\]string\{app: web,\},MatchExpressions:\[\]LabelSelectorRequirement\{\},\}\) were found to be unmanaged\./,
    )
    await world.create('poddisruptionbudgets', budget('c', { minAvailable: 1 }))
    await world.patch('pods', 'bare', { metadata: { annotations: { touched: 'yes' } } })
    await world.until(
      'two budgets',
      () => world.events('MultiplePodDisruptionBudgets'),
      ([message]) => message === 'Pod "default"/"bare" matches multiple PodDisruptionBudgets.  Chose "b" arbitrarily.',
    )
    const { status, body } = await evict(world, 'bare')
    assert.equal(status, 500)
    assert.equal(
      body.message,
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    )
  })

  test('of a part count what the controllers want', async (t) => {
    const world = await createWorkloadWorld(t)
    await world.create('deployments', deployment(4))
    await world.create('poddisruptionbudgets', budget('b', { maxUnavailable: '50%' }))
    const { status } = await allowed(world, 'b', 2)
    assert.deepEqual([status.expectedPods, status.desiredHealthy, status.currentHealthy], [4, 2, 4])
    await world.create('poddisruptionbudgets', budget('c', { minAvailable: 0 }))
    const [pod] = await world.list('pods')
    assert.equal((await evict(world, pod.metadata.name)).status, 500)
  })
})
