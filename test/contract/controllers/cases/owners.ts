import type { BehaviourCase } from '../behaviour-case.ts'
import type { CaseWorld } from '../case-world.ts'
import { ENDS } from '../pod-actor.ts'
import { deployment, pod, template } from './objects.ts'

async function started(world: CaseWorld, spec: object = {}): Promise<void> {
  await world.create('deployments', deployment('web', { replicas: 2, ...spec }))
  await world.untilObject('deployments', 'web', ({ status }) => status?.availableReplicas === 2)
}

const configMap = (name: string, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
})
const ownerOf = (name: string, uid: string, fields: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name,
  uid,
  ...fields,
})
const KINDS = ['deployments', 'replicasets', 'pods', 'configmaps']

export const ownerCases: readonly BehaviourCase[] = [
  {
    name: 'owners: a Deployment goes in the background',
    run: async (world) => {
      await started(world)
      await world.remove('deployments', 'web', 'Background')
      await world.untilPods(0)
      await world.snap('gone')
    },
  },
  {
    name: 'owners: a Deployment goes after all that it owns',
    run: async (world) => {
      await started(world, { template: template('web', 'ready', { annotations: { [ENDS]: 'linger' } }) })
      await world.remove('deployments', 'web', 'Foreground')
      await world.snap('waits', KINDS)
      for (const { metadata } of await world.list('pods'))
        await world.patch('pods', metadata.name, { metadata: { annotations: { [ENDS]: null } } })
      await world.untilObject('deployments', 'web', (found) => found === undefined)
      await world.snap('gone')
    },
  },
  {
    name: 'owners: a Deployment goes and leaves its sets, and comes back to them',
    run: async (world) => {
      await started(world)
      await world.remove('deployments', 'web', 'Orphan')
      await world.untilObject('deployments', 'web', (found) => found === undefined)
      await world.snap('left')
      await started(world)
      await world.snap('adopted')
    },
  },
  {
    name: 'owners: a set goes and leaves its pods',
    run: async (world) => {
      await started(world)
      const [set] = await world.list('replicasets')
      await world.remove('deployments', 'web', 'Orphan')
      await world.remove('replicasets', set.metadata.name, 'Orphan')
      await world.until(
        'free pods',
        () => world.list('pods'),
        (pods) => pods.every(({ metadata }) => metadata.ownerReferences === undefined),
      )
      await world.snap('left')
    },
  },
  {
    name: 'owners: one that lives and one that does not',
    run: async (world) => {
      const live = await world.create('configmaps', configMap('live'))
      const dead = await world.create('configmaps', configMap('dead'))
      const owners = [ownerOf('live', live.metadata.uid), ownerOf('dead', dead.metadata.uid)]
      await world.create('configmaps', configMap('both', { ownerReferences: owners }))
      await world.create('configmaps', configMap('one', { ownerReferences: [owners[1]] }))
      await world.remove('configmaps', 'dead')
      await world.untilObject('configmaps', 'one', (found) => found === undefined)
      await world.untilObject('configmaps', 'both', ({ metadata }) => metadata.ownerReferences.length === 1)
      await world.snap('left', ['configmaps'])
    },
  },
  {
    name: 'owners: one that never was',
    run: async (world) => {
      const uid = '00000000-0000-4000-8000-000000000000'
      await world.create('configmaps', configMap('child', { ownerReferences: [ownerOf('never', uid)] }))
      await world.untilObject('configmaps', 'child', (found) => found === undefined)
      await world.snap('gone', ['configmaps'])
    },
  },
  {
    name: 'owners: a finalizer holds what is deleted',
    run: async (world) => {
      const owner = await world.create('configmaps', configMap('owner'))
      await world.create(
        'configmaps',
        configMap('child', {
          ownerReferences: [ownerOf('owner', owner.metadata.uid)],
          finalizers: ['example.com/hold'],
        }),
      )
      await world.remove('configmaps', 'owner')
      await world.untilObject('configmaps', 'child', ({ metadata }) => metadata.deletionTimestamp !== undefined)
      await world.snap('held', ['configmaps'])
      await world.patch('configmaps', 'child', { metadata: { finalizers: null } })
      await world.untilObject('configmaps', 'child', (found) => found === undefined)
      await world.snap('gone', ['configmaps'])
    },
  },
  ...[true, false].map((blockOwnerDeletion): BehaviourCase => ({
    name: `owners: in the foreground with a child that ${blockOwnerDeletion ? 'blocks' : 'does not block'}`,
    run: async (world) => {
      const owner = await world.create('configmaps', configMap('owner'))
      const reference = ownerOf('owner', owner.metadata.uid, { blockOwnerDeletion })
      await world.create(
        'configmaps',
        configMap('child', { ownerReferences: [reference], finalizers: ['example.com/hold'] }),
      )
      await world.remove('configmaps', 'owner', 'Foreground')
      await world.snap('held', ['configmaps'])
      await world.patch('configmaps', 'child', { metadata: { finalizers: null } })
      await world.untilObject('configmaps', 'owner', (found) => found === undefined)
      await world.snap('gone', ['configmaps'])
    },
  })),
  {
    name: 'owners: three generations in the foreground',
    run: async (world) => {
      const first = await world.create('configmaps', configMap('first'))
      const second = await world.create(
        'configmaps',
        configMap('second', { ownerReferences: [ownerOf('first', first.metadata.uid, { blockOwnerDeletion: true })] }),
      )
      await world.create(
        'configmaps',
        configMap('third', {
          finalizers: ['example.com/hold'],
          ownerReferences: [ownerOf('second', second.metadata.uid, { blockOwnerDeletion: true })],
        }),
      )
      await world.remove('configmaps', 'first', 'Foreground')
      await world.snap('held', ['configmaps'])
      await world.patch('configmaps', 'third', { metadata: { finalizers: null } })
      await world.untilObject('configmaps', 'first', (found) => found === undefined)
      await world.snap('gone', ['configmaps'])
    },
  },
  {
    name: 'owners: a reference is taken away',
    run: async (world) => {
      await started(world)
      const [first] = await world.list('pods')
      await world.patch('pods', first.metadata.name, { metadata: { ownerReferences: null, labels: { app: 'free' } } })
      await world.untilPods(3)
      await world.remove('deployments', 'web')
      await world.untilPods(1)
      await world.snap('left')
    },
  },
  {
    name: 'owners: a pod of a namespace that goes',
    run: async (world) => {
      const name = `${world.namespace}-other`
      await world.send({
        method: 'POST',
        path: '/api/v1/namespaces',
        body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
      })
      const inside = `/api/v1/namespaces/${name}`
      await world.until(
        'its account',
        () => world.try('GET', `${inside}/serviceaccounts/default`),
        ({ code }) => code === 'good',
      )
      await world.send({
        method: 'POST',
        path: `${inside}/pods`,
        body: pod('web', { app: 'web' }, 'ready', { annotations: { [ENDS]: 'linger' } }),
      })
      await world.send({
        method: 'POST',
        path: `${inside}/configmaps`,
        body: configMap('held', { finalizers: ['example.com/hold'] }),
      })
      await world.until(
        'a node',
        () => world.send({ method: 'GET', path: `${inside}/pods/web` }),
        ({ status }) => status.phase === 'Running',
      )
      await world.send({ method: 'DELETE', path: inside })
      const read = () => world.send({ method: 'GET', path: inside })
      await world.until('its end', read, ({ status }) => status.phase === 'Terminating')
      world.note('a new object', await world.try('POST', `${inside}/configmaps`, configMap('new')))
      await world.until(
        'the end of the pod',
        () => world.send({ method: 'GET', path: `${inside}/pods/web` }),
        ({ metadata }) => metadata.deletionTimestamp !== undefined,
      )
      world.note('while the pod is there', [(await world.try('GET', `${inside}/configmaps/held`)).code])
      await world.send({
        method: 'PATCH',
        path: `${inside}/pods/web`,
        contentType: 'application/merge-patch+json',
        body: { metadata: { annotations: { [ENDS]: null } } },
      })
      const held = await world.until(
        'what holds it',
        read,
        ({ status }) =>
          status.conditions?.some(
            (condition: { type: string; status: string; message: string }) =>
              condition.type === 'NamespaceContentRemaining' &&
              /: configmaps\. has 1/.test(condition.message) &&
              !condition.message.includes('pods'),
          ) === true,
      )
      world.note(
        'held',
        [...held.status.conditions].toSorted((a: { type: string }, b: { type: string }) => (a.type < b.type ? -1 : 1)),
      )
      await world.send({
        method: 'PATCH',
        path: `${inside}/configmaps/held`,
        contentType: 'application/merge-patch+json',
        body: { metadata: { finalizers: null } },
      })
      await world.until(
        'nothing',
        () => world.try('GET', inside),
        ({ code }) => code === 404,
      )
    },
    isSlow: true,
  },
  {
    name: 'owners: the account of a namespace comes back',
    run: async (world) => {
      const before = await world.get('serviceaccounts', 'default')
      await world.remove('serviceaccounts', 'default')
      await world.untilObject(
        'serviceaccounts',
        'default',
        (found) => found !== undefined && found.metadata.uid !== before.metadata.uid,
      )
      await world.snap('back', ['serviceaccounts', 'configmaps'])
    },
  },
]
