import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { createCluster, joinCluster } from './create-cluster.ts'
import type { Cluster } from './create-cluster.ts'
import { createWorld, running } from './create-world.ts'
import type { World } from './create-agent.ts'

const LINGER_MS = 5000
const MAIN = { name: 'main', image: 'registry.test/app:1', imagePullPolicy: 'IfNotPresent' }
const UNREADABLE = { containers: 'none' }

type Changed = Readonly<Record<string, unknown>>

/** From now on the API shows a pod with another spec than the one that it took. */
function show(cluster: Cluster, name: string, change: (spec: Changed) => unknown): void {
  cluster.client.alter = (object) => {
    const pod = object as {
      readonly kind?: string
      readonly metadata?: { readonly name?: string }
      readonly spec: Changed
    }
    return pod.metadata?.name === name && pod.spec !== undefined ? { ...pod, spec: change(pod.spec) } : object
  }
}

async function join(t: TestContext, world: World) {
  const cluster = await createCluster(t, world)
  return { cluster, agent: await joinCluster(world, cluster) }
}

describe('a pod of the API that cannot be read', () => {
  test('is rejected, with the reason, and goes when it is deleted', async (t) => {
    await using world = await createWorld()
    const { cluster, agent: joined } = await join(t, world)
    await using agent = joined
    agent.setPods([])
    show(cluster, 'web', () => UNREADABLE)
    const uid = await cluster.create('web')
    await cluster.create('other')
    await agent.settle()
    const { status } = (await cluster.get('web')) ?? {}
    assert.deepEqual([status?.phase, status?.reason], ['Failed', 'FailedValidation'])
    assert.match(
      status?.message ?? '',
      /^Pod was rejected: Cannot use the pod "shop\/web" of the API: spec\.containers: /,
    )
    assert.deepEqual(agent.reasons(uid), ['FailedValidation'])
    assert.deepEqual(running(world), ['main'], 'another one runs')
    await cluster.delete('web')
    await agent.settle()
    assert.equal(await cluster.get('web'), undefined)
    assert.equal(agent.registry.knows(uid), false)
  })

  test('that is to go when it is first seen goes', async (t) => {
    await using world = await createWorld()
    const { cluster, agent: joined } = await join(t, world)
    await using agent = joined
    show(cluster, 'web', () => UNREADABLE)
    await cluster.create('web')
    await cluster.delete('web')
    agent.setPods([])
    await agent.settle()
    assert.equal(await cluster.get('web'), undefined)
  })

  test('and could be before goes on with what it was, until it is deleted', async (t) => {
    await using world = await createWorld({ programOf: () => ({ onTerm: 'ignore' }) })
    const { cluster, agent: joined } = await join(t, world)
    await using agent = joined
    agent.setPods([])
    const uid = await cluster.create('web', { terminationGracePeriodSeconds: 7 })
    await agent.settle()
    show(cluster, 'web', () => UNREADABLE)
    await cluster.ask('PATCH:merge', '/api/v1/namespaces/shop/pods/web', { body: { metadata: { labels: { a: 'b' } } } })
    await agent.pass(30_000, 10_000)
    assert.deepEqual([running(world), agent.reasons(uid).includes('FailedValidation')], [['main'], true])
    assert.equal((await cluster.get('web'))?.status.phase, 'Running')
    await cluster.delete('web')
    await agent.pass(7000 + LINGER_MS)
    assert.deepEqual(
      world.cri.requests('stopContainer').map(({ timeout }) => timeout),
      [7n],
    )
    assert.equal(await cluster.get('web'), undefined)
    assert.equal(agent.workers.size, 0)
  })

  test('of which something runs is left alone by an agent that never could, until it is deleted', async (t) => {
    await using world = await createWorld({ programOf: () => ({ onTerm: 'ignore' }) })
    const cluster = await createCluster(t, world)
    const first = await joinCluster(world, cluster)
    first.setPods([])
    const uid = await cluster.create('web', { terminationGracePeriodSeconds: 60 })
    await first.settle()
    await first.leave()
    show(cluster, 'web', () => UNREADABLE)
    await using agent = await joinCluster(world, cluster)
    agent.setPods([])
    await agent.pass(30_000, 10_000)
    assert.deepEqual(running(world), ['main'])
    assert.deepEqual(
      [agent.workers.size, agent.registry.knows(uid), agent.reasons(uid)],
      [0, true, ['FailedValidation']],
    )
    assert.equal((await cluster.get('web'))?.status.phase, 'Running')
    await cluster.delete('web', { gracePeriodSeconds: 3600 })
    await agent.pass(2000)
    assert.deepEqual(running(world), ['main'])
    await cluster.delete('web', { gracePeriodSeconds: 5 })
    await agent.pass(6000)
    assert.deepEqual(running(world), [])
    assert.equal(await cluster.get('web'), undefined)
    await agent.pass(LINGER_MS)
    assert.deepEqual([agent.workers.size, agent.registry.knows(uid)], [0, false])
  })

  test('runs on as soon as it can be read again', async (t) => {
    await using world = await createWorld()
    const cluster = await createCluster(t, world)
    const first = await joinCluster(world, cluster)
    first.setPods([])
    await cluster.create('web')
    await first.settle()
    await first.leave()
    show(cluster, 'web', () => UNREADABLE)
    await using agent = await joinCluster(world, cluster)
    agent.setPods([])
    await agent.settle()
    show(cluster, 'web', (spec) => spec)
    await cluster.ask('PATCH:merge', '/api/v1/namespaces/shop/pods/web', { body: { metadata: { labels: { a: 'b' } } } })
    await agent.settle()
    assert.deepEqual([running(world), agent.workers.size], [['main'], 1])
    assert.equal(world.cri.requests('createContainer').length, 1)
  })
})

// What a newer API may have in a pod, or one that was changed by hand in its database.
const ODD: readonly (readonly [name: string, spec: Changed, container?: Changed])[] = [
  ['a restart policy', { restartPolicy: 'Sometimes' }],
  ['a DNS policy', { dnsPolicy: 'ClusterLast' }],
  [
    'a volume of a new kind',
    { volumes: [{ name: 'v', quantum: { bits: 3 } }] },
    { volumeMounts: [{ name: 'v', mountPath: '/v' }] },
  ],
  ['a mount of no volume', {}, { volumeMounts: [{ name: 'v', mountPath: '/v' }] }],
  ['a new way to project', { volumes: [{ name: 'v', projected: { sources: [{ quantum: {} }] } }] }],
  ['a pull policy', {}, { imagePullPolicy: 'Maybe' }],
  ['a probe without a known way', {}, { livenessProbe: { quantum: {}, periodSeconds: 1 } }],
  ['a port that no container has', {}, { readinessProbe: { httpGet: { port: 'nowhere', path: '/' } } }],
  ['a hook without a known way', {}, { lifecycle: { postStart: { quantum: {} }, preStop: { quantum: {} } } }],
  ['profiles', { securityContext: { seccompProfile: { type: 'New' }, appArmorProfile: { type: 'New' } } }],
  ['a value from elsewhere', {}, { env: [{ name: 'A', valueFrom: { quantum: {} } }], envFrom: [{}] }],
  [
    'a mount propagation',
    { volumes: [{ name: 'v', emptyDir: {} }] },
    { volumeMounts: [{ name: 'v', mountPath: '/v', mountPropagation: 'Odd', recursiveReadOnly: 'Odd' }] },
  ],
  [
    'a medium',
    { volumes: [{ name: 'v', emptyDir: { medium: 'Clay' } }] },
    { volumeMounts: [{ name: 'v', mountPath: '/v' }] },
  ],
  [
    'a type of host path',
    { volumes: [{ name: 'v', hostPath: { path: '/x', type: 'Odd' } }] },
    { volumeMounts: [{ name: 'v', mountPath: '/v' }] },
  ],
  ['a termination policy', {}, { terminationMessagePolicy: 'Odd', terminationMessagePath: '' }],
  ['an operating system', { os: { name: 'plan9' } }],
  ['a protocol', {}, { ports: [{ containerPort: 80, hostPort: 80, protocol: 'QUIC' }] }],
  [
    'operators',
    {
      tolerations: [{ operator: 'Odd', key: 'a' }],
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Odd' }] }],
          },
        },
      },
    },
  ],
  ['no containers', { containers: [] }],
  ['containers that are null', { containers: null, initContainers: null, volumes: null, tolerations: null }],
  ['two containers of one name', { containers: [MAIN, MAIN] }],
  ['a container without an image', {}, { image: '' }],
  [
    'rules of restarting',
    {},
    { restartPolicy: 'Never', restartPolicyRules: [{ action: 'Odd', exitCodes: { operator: 'Odd', values: [1] } }] },
  ],
  ['resize policies', {}, { resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'Odd' }] }],
  [
    'amounts beyond measure',
    {},
    {
      resources: {
        requests: { cpu: '1e400', memory: '9999999999999999999999E' },
        limits: { cpu: '1e400', 'hugepages-odd': '1' },
      },
    },
  ],
  ['claims of nothing', { resourceClaims: [{ name: 'c' }] }, { resources: { claims: [{ name: 'd' }] } }],
  [
    'addresses that are none',
    { hostAliases: [{ ip: 'x', hostnames: ['y'] }], dnsConfig: { nameservers: ['z'], options: [{}] } },
  ],
  [
    'settings of the kernel',
    {
      securityContext: {
        sysctls: [{ name: '../odd', value: '' }],
        fsGroupChangePolicy: 'Odd',
        supplementalGroupsPolicy: 'Odd',
      },
    },
  ],
  [
    'ids beyond 32 bits',
    {
      securityContext: {
        runAsUser: 9223372036854775807n,
        fsGroup: 9223372036854775807n,
        supplementalGroups: [9223372036854775807n],
      },
    },
  ],
  [
    'times that mean for ever',
    { activeDeadlineSeconds: 9223372036854775807n, terminationGracePeriodSeconds: 9223372036854775807n },
    { livenessProbe: { exec: { command: ['x'] }, terminationGracePeriodSeconds: 9223372036854775807n } },
  ],
  ['capabilities and kinds of proc', {}, { securityContext: { procMount: 'Odd', capabilities: { add: ['ODD'] } } }],
  [
    'a user namespace',
    { hostUsers: false, hostnameOverride: '..', setHostnameAsFQDN: true, hostname: '-', subdomain: '-' },
  ],
  ['a stop signal', {}, { lifecycle: { stopSignal: 'SIGODD' } }],
  [
    'an image volume',
    { volumes: [{ name: 'v', image: { pullPolicy: 'Odd' } }] },
    { volumeMounts: [{ name: 'v', mountPath: '/v', subPath: '../..' }] },
  ],
]

test('pods of the API with something odd in them can be deleted, and harm no other', async (t) => {
  await using world = await createWorld()
  const { cluster, agent: joined } = await join(t, world)
  await using agent = joined
  agent.setPods([])
  const odd = new Map(
    ODD.map(([, spec, container], index) => [
      `odd-${index}`,
      { ...(container === undefined ? {} : { containers: [{ ...MAIN, ...container }] }), ...spec },
    ]),
  )
  cluster.client.alter = (object) => {
    const pod = object as { readonly metadata?: { readonly name?: string }; readonly spec: Changed }
    const change = odd.get(pod.metadata?.name ?? '')
    return change !== undefined && pod.spec !== undefined ? { ...pod, spec: { ...pod.spec, ...change } } : object
  }
  await cluster.create('good')
  const uids = []
  for (const name of odd.keys()) uids.push(await cluster.create(name))
  await agent.pass(15_000, 5000)
  assert.equal((await cluster.get('good'))?.status.phase, 'Running')
  for (const name of odd.keys()) await cluster.delete(name, { gracePeriodSeconds: 2 })
  await agent.pass(15_000)
  const left = []
  for (const [index, [what]] of ODD.entries()) if ((await cluster.get(`odd-${index}`)) !== undefined) left.push(what)
  assert.deepEqual(left, [])
  await agent.pass(LINGER_MS)
  assert.deepEqual(
    uids.filter((uid) => agent.registry.knows(uid)),
    [],
  )
  assert.deepEqual(running(world), ['main'])
})
