import type { BehaviourCase } from '../behaviour-case.ts'
import type { CaseWorld } from '../case-world.ts'
import { ENDS } from '../pod-actor.ts'
import { container, pod, quota, replicaSet, template } from './objects.ts'

const COST = 'controller.kubernetes.io/pod-deletion-cost'

async function started(world: CaseWorld, replicas: number, spec: object = {}): Promise<void> {
  await world.create('replicasets', replicaSet('web', { replicas, ...spec }))
  await world.untilObject('replicasets', 'web', ({ status }) => status?.availableReplicas === replicas)
}

export const replicaSetCases: readonly BehaviourCase[] = [
  {
    name: 'ReplicaSet: makes pods, more and fewer',
    run: async (world) => {
      await started(world, 2)
      await world.snap('made')
      await world.patch('replicasets/scale', 'web', { spec: { replicas: 4 } })
      await world.untilPods(4)
      await world.snap('more')
      await world.patch('replicasets', 'web', { spec: { replicas: 1 } })
      await world.untilPods(1)
      await world.snap('fewer')
    },
  },
  {
    name: 'ReplicaSet: adopts what matches and gives up what is too much',
    run: async (world) => {
      for (const name of ['one', 'two', 'three']) await world.create('pods', pod(name, { app: 'web' }))
      await world.create('pods', pod('other', { app: 'other' }))
      await world.create('pods', pod('ended', { app: 'web' }, 'succeed'))
      await world.untilObject('pods', 'ended', ({ status }) => status.phase === 'Succeeded')
      await started(world, 3)
      await world.snap('adopted')
    },
  },
  {
    name: 'ReplicaSet: releases a pod whose labels change, and takes it back',
    run: async (world) => {
      await started(world, 2)
      const [first] = await world.list('pods')
      await world.patch('pods', first.metadata.name, { metadata: { labels: { app: 'loose' } } })
      await world.untilPods(3)
      await world.snap('released')
      await world.patch('pods', first.metadata.name, { metadata: { labels: { app: 'web' } } })
      await world.untilPods(2)
      await world.snap('taken back')
    },
  },
  {
    name: 'ReplicaSet: which pods go first',
    run: async (world) => {
      const spec = { replicas: 5, template: template('web', 'pending') }
      await world.create('replicasets', replicaSet('web', spec))
      const pods = await world.untilPods(5, '', ({ spec: { nodeName } }) => nodeName !== undefined)
      const names = ['costly', 'cheap', 'plain', 'unready', 'pending']
      for (const [index, { metadata }] of pods.entries())
        await world.patch('pods', metadata.name, { metadata: { labels: { is: names[index] } } })
      const of = (name: string) => world.list('pods', `is=${name}`)
      for (const name of ['costly', 'cheap', 'plain']) await world.let(await of(name), 'ready')
      await world.let(await of('unready'), 'unready')
      for (const [name, cost] of [
        ['costly', '10'],
        ['cheap', '-10'],
      ] as const)
        for (const { metadata } of await of(name))
          await world.patch('pods', metadata.name, { metadata: { annotations: { [COST]: cost } } })
      await world.untilObject('replicasets', 'web', ({ status }) => status.readyReplicas === 3)
      for (const replicas of [4, 3, 2, 1]) {
        await world.patch('replicasets', 'web', { spec: { replicas } })
        const left = await world.untilPods(replicas)
        const are = left.map(({ metadata }) => metadata.labels.is as string)
        world.note(
          `${replicas} left`,
          are.toSorted((a, b) => (a < b ? -1 : 1)),
        )
      }
    },
  },
  {
    name: 'ReplicaSet: a quota refuses pods',
    run: async (world) => {
      await world.create('resourcequotas', quota({ pods: '1' }))
      await world.untilObject('resourcequotas', 'quota', ({ status }) => status?.hard !== undefined)
      await world.create('replicasets', replicaSet('web', { replicas: 2 }))
      await world.untilObject('replicasets', 'web', ({ status }) => status?.conditions !== undefined)
      await world.untilPods(1, '', ({ status }) => status.phase === 'Running')
      await world.snap('refused', ['replicasets', 'pods'])
      await world.remove('resourcequotas', 'quota')
      // Tried again later and later: a change makes it happen now.
      await world.patch('replicasets', 'web', { metadata: { annotations: { touched: 'yes' } } })
      await world.untilObject(
        'replicasets',
        'web',
        ({ status }) => status.availableReplicas === 2 && status.conditions === undefined,
      )
      await world.snap('let in', ['replicasets', 'pods'])
    },
  },
  {
    name: 'ReplicaSet: an ended pod is replaced and stays',
    run: async (world) => {
      await started(world, 2)
      const [first, second] = await world.list('pods')
      await world.let([first], 'fail:3')
      await world.let([second], 'succeed')
      await world.untilPods(4)
      await world.untilObject('replicasets', 'web', ({ status }) => status.availableReplicas === 2)
      await world.snap('replaced')
    },
  },
  {
    name: 'ReplicaSet: a deleted pod is replaced at once, though it lingers',
    run: async (world) => {
      await started(world, 2, { template: template('web', 'ready', { annotations: { [ENDS]: 'linger' } }) })
      const [first] = await world.list('pods')
      await world.remove('pods', first.metadata.name)
      await world.untilPods(3)
      await world.snap('replaced')
    },
  },
  {
    name: 'ReplicaSet: counts pods that lack labels of its template',
    run: async (world) => {
      await world.create('pods', pod('bare', { app: 'web' }))
      // A controller that has not heard of it makes one too many.
      await world.untilPods(1, '', ({ status }) => status?.phase === 'Running')
      await started(world, 2, { template: template('web', 'ready', { labels: { tier: 'front' } }) })
      await world.snap('counted')
    },
  },
  {
    name: 'ReplicaSet: minReadySeconds',
    isSlow: true,
    run: async (world) => {
      await world.create('replicasets', replicaSet('web', { replicas: 2, minReadySeconds: 6 }))
      await world.untilObject('replicasets', 'web', ({ status }) => status?.readyReplicas === 2)
      await world.snap('ready')
      await world.untilObject('replicasets', 'web', ({ status }) => status?.availableReplicas === 2)
      await world.snap('available')
    },
  },
  {
    name: 'ReplicaSet: pods that the API does not take',
    run: async (world) => {
      const spec = { containers: [container()], priorityClassName: 'none-such' }
      await world.create(
        'replicasets',
        replicaSet('web', { replicas: 2, template: template('web', 'ready', {}, spec) }),
      )
      await world.untilObject('replicasets', 'web', ({ status }) => status?.conditions !== undefined)
      await world.snap('refused', ['replicasets', 'pods'])
    },
  },
  {
    name: 'ReplicaSet: two with one selector share nothing',
    run: async (world) => {
      await started(world, 2)
      await world.create('replicasets', { ...replicaSet('web', { replicas: 1 }), metadata: { name: 'twin' } })
      await world.untilObject('replicasets', 'twin', ({ status }) => status?.availableReplicas === 1)
      await world.snap('both')
    },
  },
]
