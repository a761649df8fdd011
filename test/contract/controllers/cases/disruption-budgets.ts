import type { AnyObject, BehaviourCase } from '../behaviour-case.ts'
import type { CaseWorld } from '../case-world.ts'
import { budget, daemonSet, deployment, job, pod, statefulSet, template } from './objects.ts'

const isCounted = (object: AnyObject) => object?.status?.observedGeneration === object.metadata.generation
const counted = (world: CaseWorld, expected: object) =>
  world.untilObject(
    'poddisruptionbudgets',
    'b',
    (found) =>
      isCounted(found) && Object.entries(expected).every(([name, value]) => (found.status[name] ?? 0) === value),
  )

async function started(world: CaseWorld, spec: object, replicas = 3): Promise<void> {
  await world.create('deployments', deployment('web', { replicas }))
  await world.untilObject('deployments', 'web', ({ status }) => status?.availableReplicas === replicas)
  await world.create('poddisruptionbudgets', budget('b', spec))
  await counted(world, { currentHealthy: replicas })
}

async function evict(world: CaseWorld, name: string): Promise<AnyObject> {
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } }
  return await world.try('POST', `${world.path('pods', name)}/eviction`, body)
}

const evicts = (name: string, spec: object): BehaviourCase => ({
  name: `PodDisruptionBudget: evictions with ${name}`,
  run: async (world) => {
    await started(world, spec)
    const pods = await world.list('pods')
    await world.snap('before', ['poddisruptionbudgets'])
    // Their successors do not get ready.
    await world.patch('deployments', 'web', { spec: { paused: true } })
    const answers = []
    for (const { metadata } of pods) answers.push(await evict(world, metadata.name))
    world.note('answers', answers)
    await world.untilPods(
      3,
      '',
      ({ metadata, status }) => status.phase === 'Running' && metadata.deletionTimestamp === undefined,
    )
    await world.snapEnd('after', ['poddisruptionbudgets', 'pods'])
  },
})

export const disruptionBudgetCases: readonly BehaviourCase[] = [
  evicts('all needed', { minAvailable: 3 }),
  evicts('none that may be missing', { maxUnavailable: 0 }),
  evicts('a part that is needed', { minAvailable: '100%' }),
  {
    name: 'PodDisruptionBudget: one may be missing',
    run: async (world) => {
      await started(world, { maxUnavailable: 1 })
      await world.snap('before', ['poddisruptionbudgets'])
      const [first] = await world.list('pods')
      world.note('answer', await evict(world, first.metadata.name))
      await world.untilPods(
        3,
        '',
        ({ metadata, status }) => metadata.uid !== first.metadata.uid && status.phase === 'Running',
      )
      await counted(world, { currentHealthy: 3 })
      await world.snapEnd('after', ['poddisruptionbudgets', 'pods'])
    },
  },
  {
    name: 'PodDisruptionBudget: no pods',
    run: async (world) => {
      await world.create('poddisruptionbudgets', budget('b', { minAvailable: 1 }))
      await counted(world, {})
      await world.snap('nothing')
    },
  },
  {
    name: 'PodDisruptionBudget: pods without a controller',
    run: async (world) => {
      await world.create('pods', pod('bare', { app: 'web' }))
      await world.untilObject('pods', 'bare', ({ status }) => status.phase === 'Running')
      await world.create('poddisruptionbudgets', budget('b', { minAvailable: 1 }))
      await counted(world, { currentHealthy: 1 })
      await world.snap('by number')
      await world.patch('poddisruptionbudgets', 'b', { spec: { minAvailable: null, maxUnavailable: 1 } })
      await world.until('the generation', () => world.get('poddisruptionbudgets', 'b'), isCounted)
      await world.snap('by what may be missing')
    },
  },
  {
    name: 'PodDisruptionBudget: pods of a DaemonSet and a Job',
    run: async (world) => {
      await world.create('jobs', {
        ...job('work', {}, 'ready'),
        spec: { template: template('web', 'ready', {}, { restartPolicy: 'Never' }) },
      })
      await world.untilPods(1, '', ({ status }) => status.phase === 'Running')
      await world.create('poddisruptionbudgets', budget('b', { maxUnavailable: 1 }))
      await world.untilObject('poddisruptionbudgets', 'b', ({ status }) => status?.conditions !== undefined)
      await world.snap('a Job')
      await world.create(
        'daemonsets',
        daemonSet('web', { template: template('web', 'ready', {}, { nodeSelector: { none: 'such' } }) }),
      )
      await world.remove('jobs', 'work')
      await world.untilPods(0)
      await world.snapEnd('nothing', ['poddisruptionbudgets'])
    },
  },
  {
    name: 'PodDisruptionBudget: pods of a StatefulSet',
    run: async (world) => {
      await world.create('statefulsets', statefulSet('web', { replicas: 2 }))
      await world.untilObject('statefulsets', 'web', ({ status }) => status?.availableReplicas === 2)
      await world.create('poddisruptionbudgets', budget('b', { maxUnavailable: '50%' }))
      await counted(world, { currentHealthy: 2 })
      await world.snap('counted', ['poddisruptionbudgets'])
    },
  },
  {
    name: 'PodDisruptionBudget: follows the size and the health of its pods',
    run: async (world) => {
      await started(world, { minAvailable: '50%' })
      await world.patch('deployments', 'web', { spec: { replicas: 6 } })
      await counted(world, { currentHealthy: 6, expectedPods: 6 })
      await world.snap('more', ['poddisruptionbudgets'])
      await world.let((await world.list('pods')).slice(0, 4), 'unready')
      await counted(world, { currentHealthy: 2 })
      await world.snap('ill', ['poddisruptionbudgets'])
    },
  },
  {
    name: 'PodDisruptionBudget: two for one pod',
    run: async (world) => {
      await started(world, { maxUnavailable: 1 })
      await world.create('poddisruptionbudgets', budget('c', { minAvailable: 1 }))
      await world.untilObject('poddisruptionbudgets', 'c', isCounted)
      const [first] = await world.list('pods')
      world.note('answer', await evict(world, first.metadata.name))
      await world.snap('after', ['poddisruptionbudgets', 'pods'])
    },
  },
  ...['IfHealthyBudget', 'AlwaysAllow'].map((unhealthyPodEvictionPolicy): BehaviourCase => ({
    name: `PodDisruptionBudget: pods that are ill, ${unhealthyPodEvictionPolicy}`,
    run: async (world) => {
      await world.create('deployments', deployment('web', { replicas: 3, template: template('web', 'unready') }))
      const pods = await world.untilPods(3, '', ({ status }) => status.phase === 'Running')
      await world.create('poddisruptionbudgets', budget('b', { minAvailable: 2, unhealthyPodEvictionPolicy }))
      await world.until(
        'the generation',
        () => world.get('poddisruptionbudgets', 'b'),
        (found) => isCounted(found) && found.status.expectedPods === 3,
      )
      world.note('answer', await evict(world, pods[0].metadata.name))
    },
  })),
  {
    name: 'PodDisruptionBudget: selects everything, or nothing',
    run: async (world) => {
      await world.create('deployments', deployment('web', { replicas: 2 }))
      await world.untilObject('deployments', 'web', ({ status }) => status?.availableReplicas === 2)
      await world.create('poddisruptionbudgets', budget('b', { maxUnavailable: 1, selector: {} }))
      await counted(world, { currentHealthy: 2 })
      await world.create('poddisruptionbudgets', { ...budget('c', {}), spec: { maxUnavailable: 1 } })
      await world.untilObject('poddisruptionbudgets', 'c', isCounted)
      await world.snap('both', ['poddisruptionbudgets'])
    },
  },
]
