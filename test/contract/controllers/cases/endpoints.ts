import type { AnyObject, BehaviourCase } from '../behaviour-case.ts'
import type { CaseWorld } from '../case-world.ts'
import { ENDS } from '../pod-actor.ts'
import { container, deployment, pod, template } from './objects.ts'

const service = (spec: object, name = 'web') => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, labels: { tier: 'front' } },
  spec: { selector: { app: 'web' }, ports: [{ name: 'main', port: 80, targetPort: 8080 }], ...spec },
})

const KINDS = ['endpoints', 'endpointslices']
const ready = ({ endpoints }: AnyObject) =>
  (endpoints ?? []).filter(({ conditions }: AnyObject) => conditions.ready === true).length
const untilReady = (world: CaseWorld, count: number) =>
  world.until(
    `${count} endpoints`,
    () => world.list('endpointslices'),
    (slices) => slices.reduce((sum, slice) => sum + ready(slice), 0) === count,
  )

async function started(world: CaseWorld, spec: object, replicas = 2, podSpec: object = {}): Promise<void> {
  await world.create('services', service(spec))
  await world.create('deployments', deployment('web', { replicas, template: template('web', 'ready', {}, podSpec) }))
  await untilReady(world, replicas)
}

const shows = (name: string, spec: object, podSpec: object = {}): BehaviourCase => ({
  name: `endpoints: ${name}`,
  run: async (world) => {
    await started(world, spec, 2, podSpec)
    await world.snap('made', KINDS)
  },
})

export const endpointCases: readonly BehaviourCase[] = [
  shows('of a service', {}),
  shows('of a headless service', { clusterIP: 'None' }),
  shows(
    'of a port by name',
    { ports: [{ name: 'main', port: 80, targetPort: 'web' }] },
    { containers: [container({ ports: [{ name: 'web', containerPort: 8080 }] })] },
  ),
  shows('of two ports and protocols', {
    ports: [
      { name: 'a', port: 53, protocol: 'UDP' },
      { name: 'b', port: 80, appProtocol: 'kubernetes.io/h2c' },
    ],
  }),
  {
    name: 'endpoints: pods come, fall ill and go',
    run: async (world) => {
      await started(world, {})
      const [first] = await world.list('pods')
      await world.let([first], 'unready')
      await untilReady(world, 1)
      await world.snapEnd('one is ill', KINDS)
      await world.let([first], 'ready')
      await world.patch('deployments', 'web', { spec: { replicas: 1 } })
      await untilReady(world, 1)
      await world.snapEnd('one is left', KINDS)
      await world.patch('deployments', 'web', { spec: { replicas: 0 } })
      await untilReady(world, 0)
      await world.snapEnd('none', KINDS)
    },
  },
  {
    name: 'endpoints: a pod on its way out',
    run: async (world) => {
      await world.create('services', service({}))
      await world.create('pods', pod('one', { app: 'web' }, 'ready', { annotations: { [ENDS]: 'linger' } }))
      await untilReady(world, 1)
      await world.remove('pods', 'one')
      await untilReady(world, 0)
      await world.snap('ending', KINDS)
    },
  },
  {
    name: 'endpoints: addresses that are not ready are published',
    run: async (world) => {
      await world.create('services', service({ publishNotReadyAddresses: true, clusterIP: 'None' }))
      await world.create('deployments', deployment('web', { replicas: 1, template: template('web', 'unready') }))
      await untilReady(world, 1)
      await world.snap('published', KINDS)
    },
  },
  {
    name: 'endpoints: of a StatefulSet have names',
    run: async (world) => {
      await world.create('services', service({ clusterIP: 'None' }))
      await world.create('pods', {
        ...pod('db-0', { app: 'web' }),
        spec: { hostname: 'db-0', subdomain: 'web', containers: [container()] },
      })
      await untilReady(world, 1)
      await world.snap('named', KINDS)
    },
  },
  {
    name: 'endpoints: a service changes its selector, its ports and its mind',
    run: async (world) => {
      await started(world, {}, 1)
      await world.patch('services', 'web', { spec: { ports: [{ name: 'main', port: 80, targetPort: 9090 }] } })
      await world.until(
        'the port',
        () => world.list('endpointslices'),
        ([slice]) => slice?.ports[0].port === 9090,
      )
      await world.snap('another port', KINDS)
      await world.patch('services', 'web', { spec: { selector: { app: 'none' } } })
      await untilReady(world, 0)
      await world.snap('nobody', KINDS)
      await world.remove('services', 'web')
      await world.until(
        'no slices',
        () => world.list('endpointslices'),
        (slices) => slices.length === 0,
      )
      await world.snap('gone', KINDS)
    },
  },
  {
    name: 'endpoints: by hand are mirrored',
    run: async (world) => {
      await world.create('services', service({ selector: null }))
      await world.create('endpoints', {
        apiVersion: 'v1',
        kind: 'Endpoints',
        metadata: { name: 'web', labels: { own: 'label' } },
        subsets: [
          {
            addresses: [{ ip: '10.9.9.9' }],
            notReadyAddresses: [{ ip: '10.9.9.8' }],
            ports: [{ name: 'main', port: 80 }],
          },
        ],
      })
      await untilReady(world, 1)
      await world.snap('mirrored', KINDS)
      await world.remove('endpoints', 'web')
      await world.until(
        'no slices',
        () => world.list('endpointslices'),
        (slices) => slices.length === 0,
      )
      await world.snap('gone', KINDS)
    },
  },
  {
    name: 'endpoints: a service without a selector and one elsewhere have none',
    run: async (world) => {
      await world.create('services', service({ selector: null }))
      await world.create(
        'services',
        service({ type: 'ExternalName', externalName: 'example.com', ports: null }, 'elsewhere'),
      )
      await world.snap('none', KINDS)
    },
  },
]
