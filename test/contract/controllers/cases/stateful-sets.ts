import type { AnyObject, BehaviourCase } from '../behaviour-case.ts'
import type { CaseWorld } from '../case-world.ts'
import { statefulSet, template, templateOf } from './objects.ts'

const isDone = ({ metadata, spec, status = {} }: AnyObject) =>
  status.observedGeneration === metadata.generation &&
  status.availableReplicas === spec.replicas &&
  status.replicas === spec.replicas &&
  status.currentRevision === status.updateRevision

async function started(world: CaseWorld, spec: object = {}): Promise<void> {
  await world.create('statefulsets', statefulSet('web', { replicas: 3, ...spec }))
  await world.untilObject('statefulsets', 'web', isDone)
}

async function makeReady(world: CaseWorld, name: string): Promise<void> {
  await world.untilObject('pods', name, (pod) => pod?.status.phase === 'Running')
  await world.let([await world.get('pods', name)], 'ready')
}

const claims = {
  volumeClaimTemplates: [
    {
      metadata: { name: 'data' },
      spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'none', resources: { requests: { storage: '1Gi' } } },
    },
  ],
}
const retention = (whenScaled: string, whenDeleted: string) => ({
  ...claims,
  persistentVolumeClaimRetentionPolicy: { whenScaled, whenDeleted },
})

const kept = (whenScaled: string, whenDeleted: string): BehaviourCase => ({
  name: `StatefulSet: claims, ${whenScaled} when scaled and ${whenDeleted} when deleted`,
  run: async (world) => {
    await started(world, { replicas: 2, ...retention(whenScaled, whenDeleted) })
    await world.snap('made')
    await world.patch('statefulsets', 'web', { spec: { replicas: 1 } })
    await world.untilPods(1)
    await world.snap('fewer')
    await world.patch('statefulsets', 'web', { spec: { replicas: 2 } })
    await world.untilObject('statefulsets', 'web', isDone)
    await world.snapEnd('more')
    await world.remove('statefulsets', 'web')
    await world.untilPods(0)
    await world.snapEnd('gone')
  },
})

export const statefulSetCases: readonly BehaviourCase[] = [
  {
    name: 'StatefulSet: one pod after the other',
    run: async (world) => {
      await world.create('statefulsets', statefulSet('web', { replicas: 3, template: template('web', 'unready') }))
      await world.untilPods(1)
      await world.snap('waits for the first')
      await makeReady(world, 'web-0')
      await world.untilPods(2)
      await world.snap('waits for the second')
      await makeReady(world, 'web-1')
      await makeReady(world, 'web-2')
      await world.untilObject('statefulsets', 'web', isDone)
      await world.snap('all')
      await world.patch('statefulsets/scale', 'web', { spec: { replicas: 1 } })
      await world.untilPods(1)
      await world.snap('fewer')
    },
  },
  {
    name: 'StatefulSet: is not scaled down while one is ill',
    run: async (world) => {
      await started(world)
      await world.let([await world.get('pods', 'web-0')], 'unready')
      await world.untilObject('statefulsets', 'web', ({ status }) => status.readyReplicas === 2)
      await world.patch('statefulsets', 'web', { spec: { replicas: 1 } })
      await world.snap('held')
      await world.let([await world.get('pods', 'web-0')], 'ready')
      await world.untilPods(1)
      await world.snap('fewer')
    },
  },
  {
    name: 'StatefulSet: all at once',
    run: async (world) => {
      const spec = { replicas: 3, podManagementPolicy: 'Parallel', template: template('web', 'unready') }
      await world.create('statefulsets', statefulSet('web', spec))
      await world.untilPods(3)
      await world.snap('all')
      await world.patch('statefulsets', 'web', { spec: { replicas: 0 } })
      await world.untilPods(0)
      await world.snap('none')
    },
  },
  {
    name: 'StatefulSet: rolls, the last one first',
    run: async (world) => {
      await started(world)
      await world.patch('statefulsets', 'web', templateOf(2, 'unready'))
      await world.snap('waits')
      await makeReady(world, 'web-2')
      await world.snap('waits again')
      await world.patch('statefulsets', 'web', templateOf(3))
      await world.snap('a fix does not help while one is broken')
      await world.remove('pods', 'web-1')
      await world.untilObject('statefulsets', 'web', isDone)
      await world.snapEnd('rolled')
    },
  },
  {
    name: 'StatefulSet: rolls down to a partition',
    run: async (world) => {
      await started(world, { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } } })
      await world.patch('statefulsets', 'web', templateOf(2))
      await world.until(
        'the last',
        () => world.get('pods', 'web-2'),
        (pod) => pod?.metadata.annotations.version === '2',
      )
      await world.snap('one')
      await world.remove('pods', 'web-0')
      await world.until(
        'the first',
        () => world.get('pods', 'web-0'),
        (pod) => pod?.status.phase === 'Running' && !pod.metadata.deletionTimestamp,
      )
      await world.snap('one that was deleted has the old template')
      await world.patch('statefulsets', 'web', { spec: { updateStrategy: { rollingUpdate: { partition: 0 } } } })
      await world.untilObject('statefulsets', 'web', isDone)
      await world.snapEnd('all')
    },
  },
  {
    name: 'StatefulSet: OnDelete',
    run: async (world) => {
      await started(world, { replicas: 2, updateStrategy: { type: 'OnDelete' } })
      await world.patch('statefulsets', 'web', templateOf(2))
      await world.snap('nothing happens')
      await world.remove('pods', 'web-0')
      await world.until(
        'the new one',
        () => world.get('pods', 'web-0'),
        (pod) => pod?.status.phase === 'Running' && pod.metadata.annotations.version === '2',
      )
      await world.snap('one')
    },
  },
  kept('Retain', 'Retain'),
  kept('Delete', 'Retain'),
  kept('Retain', 'Delete'),
  kept('Delete', 'Delete'),
  {
    name: 'StatefulSet: another retention of its claims',
    run: async (world) => {
      await started(world, { replicas: 2, ...retention('Retain', 'Retain') })
      await world.patch('statefulsets', 'web', {
        spec: { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete' } },
      })
      await world.until(
        'owners',
        () => world.list('persistentvolumeclaims'),
        (found) => found.every(({ metadata }) => metadata.ownerReferences !== undefined),
      )
      await world.snap('deleted with it')
      await world.patch('statefulsets', 'web', {
        spec: { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain' } },
      })
      await world.until(
        'no owners',
        () => world.list('persistentvolumeclaims'),
        (found) => found.every(({ metadata }) => metadata.ownerReferences === undefined),
      )
      await world.snap('kept')
    },
  },
  {
    name: 'StatefulSet: a start other than zero',
    run: async (world) => {
      await started(world, { replicas: 2, ordinals: { start: 5 } })
      await world.snap('made')
      await world.patch('statefulsets', 'web', { spec: { ordinals: { start: 6 } } })
      await world.until(
        'moved',
        () => world.list('pods'),
        (pods) =>
          pods
            .map(({ metadata }) => metadata.name as string)
            .toSorted((a, b) => (a < b ? -1 : 1))
            .join() === 'web-6,web-7',
      )
      await world.snapEnd('moved')
    },
  },
  {
    name: 'StatefulSet: minReadySeconds',
    isSlow: true,
    run: async (world) => {
      await world.create('statefulsets', statefulSet('web', { replicas: 2, minReadySeconds: 6 }))
      await world.untilObject('statefulsets', 'web', ({ status }) => status?.readyReplicas === 1)
      await world.snap('the first is ready')
      await world.untilObject('statefulsets', 'web', isDone)
      await world.snap('all')
    },
  },
  {
    name: 'StatefulSet: a failed pod comes back under its name',
    run: async (world) => {
      await started(world, { replicas: 2 })
      const before = await world.get('pods', 'web-1')
      await world.let([before], 'fail:1')
      await world.until(
        'another',
        () => world.get('pods', 'web-1'),
        (pod) => pod !== undefined && pod.metadata.uid !== before.metadata.uid && pod.status.phase === 'Running',
      )
      await world.snap('back')
    },
  },
  {
    name: 'StatefulSet: adopts a pod with its name',
    run: async (world) => {
      await started(world, { replicas: 2 })
      await world.remove('statefulsets', 'web', 'Orphan')
      await world.until(
        'no owners',
        () => world.list('pods'),
        (pods) => pods.every(({ metadata }) => metadata.ownerReferences === undefined),
      )
      await world.snap('left')
      await world.create('statefulsets', statefulSet('web', { replicas: 2 }))
      await world.untilObject('statefulsets', 'web', isDone)
      await world.snap('adopted')
    },
  },
  {
    name: 'StatefulSet: keeps a short history',
    run: async (world) => {
      await started(world, { replicas: 1, revisionHistoryLimit: 1 })
      for (const version of [2, 3, 4]) {
        await world.patch('statefulsets', 'web', templateOf(version))
        await world.untilObject('statefulsets', 'web', isDone)
      }
      await world.until(
        'the history',
        () => world.list('controllerrevisions'),
        (found) => found.length === 2,
      )
      await world.snapEnd('short')
      await world.patch('statefulsets', 'web', templateOf(3))
      await world.untilObject('statefulsets', 'web', isDone)
      await world.snapEnd('undone')
    },
  },
]
