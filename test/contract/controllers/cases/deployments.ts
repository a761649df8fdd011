import type { AnyObject, BehaviourCase } from '../behaviour-case.ts'
import type { CaseWorld } from '../case-world.ts'
import { ENDS } from '../pod-actor.ts'
import { deployment, quota, replicaSet, template, templateOf } from './objects.ts'

const PROGRESSING = 'Progressing'
const REVISION = 'deployment.kubernetes.io/revision'

function reasonOf(object: AnyObject, type = PROGRESSING): string | undefined {
  return object?.status?.conditions?.find((condition: AnyObject) => condition.type === type)?.reason
}

const isComplete = ({ metadata, spec, status = {} }: AnyObject) =>
  status.observedGeneration === metadata.generation &&
  status.updatedReplicas === spec.replicas &&
  status.replicas === spec.replicas &&
  status.availableReplicas === spec.replicas

async function complete(world: CaseWorld): Promise<void> {
  await world.untilObject('deployments', 'web', isComplete)
}

async function started(world: CaseWorld, spec: object = {}): Promise<void> {
  await world.create('deployments', deployment('web', { replicas: 3, ...spec }))
  await complete(world)
}

const rolling = (maxSurge: number | string, maxUnavailable: number | string) => ({
  strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } },
})

/** A rollout whose pods never get ready stops where the limits are. */
const stuckAt = (maxSurge: number | string, maxUnavailable: number | string, replicas = 4): BehaviourCase => ({
  name: `Deployment: a rollout stops at surge ${maxSurge} and unavailable ${maxUnavailable} of ${replicas}`,
  run: async (world) => {
    await started(world, { replicas, ...rolling(maxSurge, maxUnavailable) })
    await world.patch('deployments', 'web', templateOf(2, 'unready'))
    await world.snap('stuck')
    await world.let(
      (await world.list('pods')).filter((pod) => pod.metadata.annotations['version'] === '2'),
      'ready',
    )
    await world.patch('deployments', 'web', templateOf(3))
    await complete(world)
    await world.snapEnd('fixed', ['deployments', 'replicasets', 'pods'])
  },
})

const oldSets = async (world: CaseWorld) =>
  (await world.list('replicasets')).map(({ metadata, spec }) => [metadata.annotations[REVISION], spec.replicas])

export const deploymentCases: readonly BehaviourCase[] = [
  {
    name: 'Deployment: is created',
    run: async (world) => {
      await started(world)
      await world.snap('made')
    },
  },
  {
    name: 'Deployment: pods that never get ready',
    run: async (world) => {
      await world.create('deployments', deployment('web', { replicas: 2, template: template('web', 'unready') }))
      await world.untilPods(2)
      await world.snap('waiting')
    },
  },
  {
    name: 'Deployment: rolls to a new template',
    run: async (world) => {
      await started(world)
      await world.patch('deployments', 'web', templateOf(2))
      await complete(world)
      await world.snapEnd('rolled', ['deployments', 'replicasets', 'pods'])
    },
  },
  stuckAt(1, 0),
  stuckAt(0, 1),
  stuckAt(2, 2),
  stuckAt('25%', '25%', 5),
  stuckAt('50%', '0%', 3),
  stuckAt(0, '10%', 3),
  {
    name: 'Deployment: recreates, and waits for the last old pod',
    run: async (world) => {
      await started(world, {
        strategy: { type: 'Recreate' },
        template: template('web', 'ready', { annotations: { [ENDS]: 'linger' } }),
      })
      await world.patch('deployments', 'web', templateOf(2, 'unready'))
      await world.snap('waiting')
      for (const { metadata } of await world.list('pods'))
        await world.patch('pods', metadata.name, { metadata: { annotations: { [ENDS]: null } } })
      // Pods that are ready at once may be so before the controller has said that they are awaited, and then it says nothing of them.
      await world.untilObject('deployments', 'web', (object) => reasonOf(object) === 'ReplicaSetUpdated')
      await world.let(await world.untilPods(3), 'ready')
      await complete(world)
      await world.snapEnd('recreated')
    },
  },
  {
    name: 'Deployment: is paused and resumed',
    run: async (world) => {
      await started(world)
      await world.patch('deployments', 'web', { spec: { paused: true } })
      await world.snap('paused')
      await world.patch('deployments', 'web', templateOf(2))
      await world.patch('deployments', 'web', { spec: { replicas: 5 } })
      await world.untilPods(5)
      await world.snap('changed and scaled')
      await world.patch('deployments', 'web', { spec: { paused: false } })
      await complete(world)
      await world.snapEnd('resumed', ['deployments', 'replicasets', 'pods'])
    },
  },
  {
    name: 'Deployment: is undone, and undone again',
    run: async (world) => {
      await started(world, { replicas: 2 })
      await world.snap('1', ['deployments', 'replicasets'])
      await world.patch('deployments', 'web', templateOf(2))
      await complete(world)
      await world.snapEnd('2', ['deployments', 'replicasets'])
      await world.patch('deployments', 'web', { spec: { template: { metadata: { annotations: { version: null } } } } })
      await complete(world)
      await world.snapEnd('back', ['deployments', 'replicasets'])
      await world.patch('deployments', 'web', templateOf(2))
      await complete(world)
      await world.snapEnd('forth', ['deployments', 'replicasets'])
    },
  },
  {
    name: 'Deployment: exceeds its progress deadline, and gets on after a fix',
    isSlow: true,
    run: async (world) => {
      await started(world, { replicas: 2, progressDeadlineSeconds: 4 })
      await world.patch('deployments', 'web', templateOf(2, 'unready'))
      await world.untilObject('deployments', 'web', (found) => reasonOf(found) === 'ProgressDeadlineExceeded')
      await world.snap('exceeded')
      await world.patch('deployments', 'web', templateOf(3))
      await complete(world)
      await world.snapEnd('fixed', ['deployments', 'replicasets', 'pods'])
    },
  },
  {
    name: 'Deployment: without a deadline it says nothing about progress',
    run: async (world) => {
      await started(world, { progressDeadlineSeconds: 2_147_483_647 })
      await world.snap('made')
    },
  },
  ...[0, 1].map((limit): BehaviourCase => ({
    name: `Deployment: keeps a history of ${limit}`,
    run: async (world) => {
      await started(world, { replicas: 1, revisionHistoryLimit: limit })
      for (const version of [2, 3, 4]) {
        await world.patch('deployments', 'web', templateOf(version))
        await complete(world)
        await world.until(
          'the history',
          () => oldSets(world),
          (sets) => sets.length === limit + 1,
        )
      }
      await world.snapEnd('last', ['deployments', 'replicasets'])
    },
  })),
  {
    name: 'Deployment: is scaled in the middle of a rollout',
    run: async (world) => {
      await started(world, { replicas: 10, ...rolling(3, 2) })
      await world.patch('deployments', 'web', templateOf(2, 'unready'))
      await world.snap('stuck', ['deployments', 'replicasets'])
      await world.patch('deployments', 'web', { spec: { replicas: 20 } })
      await world.snap('more', ['deployments', 'replicasets'])
      await world.patch('deployments', 'web', { spec: { replicas: 5 } })
      await world.snap('fewer', ['deployments', 'replicasets'])
      await world.patch('deployments', 'web', { spec: { replicas: 0 } })
      await world.snap('none', ['deployments', 'replicasets'])
    },
  },
  {
    name: 'Deployment: a foreign set has the name',
    run: async (world) => {
      await started(world, { replicas: 1 })
      const [first] = await world.list('replicasets')
      await world.remove('deployments', 'web')
      await world.until(
        'no sets',
        () => world.list('replicasets'),
        (sets) => sets.length === 0,
      )
      await world.create(
        'replicasets',
        replicaSet(first.metadata.name, {
          replicas: 0,
          selector: { matchLabels: { app: 'other' } },
          template: template('other'),
        }),
      )
      await world.create('deployments', deployment('web', { replicas: 1 }))
      await complete(world)
      const { status } = await world.get('deployments', 'web')
      world.note('collisions', status.collisionCount)
      const sizes = (await world.list('replicasets')).map(({ spec }) => spec.replicas as number)
      world.note(
        'sets',
        sizes.toSorted((a, b) => a - b),
      )
    },
  },
  {
    name: 'Deployment: adopts a set that matches, and its pods',
    run: async (world) => {
      const owned = {
        ...template('web'),
        metadata: { ...template('web').metadata, labels: { app: 'web', old: 'yes' } },
      }
      await world.create('replicasets', {
        ...replicaSet('loose', { replicas: 2, selector: { matchLabels: { app: 'web', old: 'yes' } }, template: owned }),
        metadata: { name: 'loose', labels: { app: 'web', old: 'yes' } },
      })
      await world.untilPods(2)
      await started(world, { replicas: 2 })
      await world.snapEnd('adopted', ['deployments', 'replicasets', 'pods'])
    },
  },
  {
    name: 'Deployment: a set that is not its own any more is released',
    run: async (world) => {
      await started(world, { replicas: 1 })
      const [set] = await world.list('replicasets')
      await world.patch('replicasets', set.metadata.name, { metadata: { labels: { app: null } } })
      await world.until(
        'two sets',
        () => world.list('replicasets'),
        (sets) => sets.length === 2 || sets.some((each) => each.metadata.ownerReferences === undefined),
      )
      await world.snap('released', ['deployments', 'replicasets'])
    },
  },
  {
    name: 'Deployment: only annotations change',
    run: async (world) => {
      await started(world, { replicas: 1 })
      await world.patch('deployments', 'web', {
        metadata: { annotations: { 'kubernetes.io/change-cause': 'because', other: 'x' } },
      })
      await world.until(
        'the set',
        () => world.list('replicasets'),
        ([set]) => set?.metadata.annotations.other === 'x',
      )
      await world.snap('changed', ['deployments', 'replicasets'])
      await world.patch('deployments', 'web', { metadata: { annotations: { other: null } } })
      await world.snap('taken away', ['deployments', 'replicasets'])
    },
  },
  {
    name: 'Deployment: minReadySeconds',
    isSlow: true,
    run: async (world) => {
      await world.create('deployments', deployment('web', { replicas: 2, minReadySeconds: 6 }))
      await world.untilObject('deployments', 'web', ({ status }) => status?.readyReplicas === 2)
      await world.snap('ready')
      await complete(world)
      await world.snap('available')
    },
  },
  {
    name: 'Deployment: a quota lets none in',
    run: async (world) => {
      await world.create('resourcequotas', quota({ pods: '1' }))
      await world.untilObject('resourcequotas', 'quota', ({ status }) => status?.hard !== undefined)
      await world.create('deployments', deployment('web', { replicas: 3 }))
      await world.untilObject('deployments', 'web', (found) => reasonOf(found, 'ReplicaFailure') !== undefined)
      await world.untilPods(1)
      await world.snap('refused', ['deployments', 'pods'])
      await world.remove('resourcequotas', 'quota')
    },
  },
  {
    name: 'Deployment: a pod fails after the rollout',
    run: async (world) => {
      await started(world, { replicas: 2 })
      const [pod] = await world.list('pods')
      await world.let([pod], 'unready')
      await world.untilObject('deployments', 'web', ({ status }) => status.readyReplicas === 1)
      await world.snap('unready', ['deployments', 'replicasets'])
      await world.let([pod], 'fail:1')
      await world.untilPods(3)
      await world.snap('failed')
    },
  },
  {
    name: 'Deployment: is scaled to nothing and back',
    run: async (world) => {
      await started(world, { replicas: 2 })
      await world.patch('deployments/scale', 'web', { spec: { replicas: 0 } })
      await world.untilPods(0)
      await world.snap('nothing')
      await world.patch('deployments/scale', 'web', { spec: { replicas: 3 } })
      await complete(world)
      await world.snapEnd('back', ['deployments', 'replicasets'])
    },
  },
]
