import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { NamespaceMode } from '../../src/protocols/cri/generated/runtime-v1.ts'
import type { RuntimeClasses } from '../../src/pods/sync/start/runtime-classes.ts'
import { startAgent } from './create-agent.ts'
import { changes, createWantedContainer, createWantedPod, createWorld, instanceOf, running } from './create-world.ts'

const BLOCK = 65_536
const ABLE = { userNamespaces: true }
const mapping = (hostId: number) => [{ hostId, containerId: 0, length: BLOCK }]
const apart = (uid = 'u-1') => createWantedPod(uid, { hostUsers: false })

describe('a pod with a user namespace', () => {
  test('gets users of its own, in its sandbox and in every mount, and they stand on the disk', async () => {
    await using world = await createWorld({ handlers: { '': ABLE } })
    await using agent = await startAgent(world)
    const container = createWantedContainer({ terminationMessagePath: '/dev/termination-log' })
    agent.setPods([createWantedPod('u-1', { hostUsers: false, containers: [container] }), apart('u-2')])
    await agent.settle()
    assert.deepEqual(running(world), ['main', 'main'])
    const users = world.cri
      .requests('runPodSandbox')
      .map(({ config }) => config?.linux?.securityContext?.namespaceOptions?.usernsOptions)
    assert.deepEqual(users, [
      { mode: NamespaceMode.POD, uids: mapping(BLOCK), gids: mapping(BLOCK) },
      { mode: NamespaceMode.POD, uids: mapping(2 * BLOCK), gids: mapping(2 * BLOCK) },
    ])
    const created = world.cri.requests('createContainer').find(({ config }) => (config?.mounts.length ?? 0) > 1)
    assert.deepEqual(
      created?.config?.mounts.map(({ containerPath, uidMappings, gidMappings }) => [
        containerPath,
        uidMappings,
        gidMappings,
      ]),
      ['/etc/hosts', '/dev/termination-log'].map((path) => [path, mapping(BLOCK), mapping(BLOCK)]),
    )
    assert.deepEqual(created?.config?.linux?.securityContext?.namespaceOptions?.usernsOptions, users[0])
    assert.equal(
      world.userNamespaces.texts.get('u-1'),
      `{"uidMappings":${JSON.stringify(mapping(BLOCK))},"gidMappings":${JSON.stringify(mapping(BLOCK))}}`,
    )
  })

  test('keeps them across a restart of the agent, also when the record is lost, and gives them back at its end', async () => {
    await using world = await createWorld({ handlers: { '': ABLE } })
    {
      await using first = await startAgent(world)
      first.setPods([apart('u-1'), apart('u-2')])
      await first.settle()
    }
    world.userNamespaces.texts.set('u-1', 'odd')
    await using agent = await startAgent(world)
    agent.setPods([apart('u-1'), apart('u-2')])
    await agent.settle()
    assert.deepEqual(world.userNamespaces.setAsides, ['u-1'])
    world.cri.exitContainer(instanceOf(world), 1)
    agent.setPods([apart('u-1'), apart('u-2'), apart('u-3')])
    await agent.pass(1000)
    const given = world.cri.requests('createContainer').map(({ config, sandboxConfig }) => {
      const users = config?.linux?.securityContext?.namespaceOptions?.usernsOptions
      return `${sandboxConfig?.metadata?.uid} ${users?.uids[0]?.hostId}`
    })
    assert.deepEqual(given.sort(), [`u-1 ${BLOCK}`, `u-2 ${2 * BLOCK}`, `u-2 ${2 * BLOCK}`, `u-3 ${3 * BLOCK}`])
    agent.setPods([apart('u-2'), apart('u-3')])
    await agent.pass(6000)
    assert.deepEqual([...world.userNamespaces.texts.keys()].sort(), ['u-2', 'u-3'])
    agent.setPods([apart('u-2'), apart('u-3'), apart('u-4')])
    await agent.settle()
    assert.match(world.userNamespaces.texts.get('u-4') ?? '', /"hostId":65536,/)
  })

  test('goes on although the next agent could not ask the runtime what it can do', async () => {
    await using world = await createWorld({ handlers: { '': ABLE } })
    {
      await using first = await startAgent(world)
      first.setPods([apart()])
      await first.settle()
    }
    world.cri.script.fail('status', 'Unknown', 'busy', 1)
    await using agent = await startAgent(world)
    agent.setPods([apart()])
    await agent.pass(6000)
    assert.equal(agent.statusOf('u-1')?.phase, 'Running')
    assert.deepEqual(running(world), ['main'])
  })

  test('is rejected on a runtime that does not support it, before anything is created', async () => {
    await using world = await createWorld()
    await using agent = await startAgent(world)
    agent.setPods([apart()])
    await agent.settle()
    assert.deepEqual(changes(world), [])
    assert.equal(world.userNamespaces.texts.size, 0)
    const { phase, reason, message } = agent.statusOf('u-1') ?? {}
    assert.deepEqual([phase, reason], ['Failed', 'UnsupportedField'])
    assert.equal(
      message,
      'Pod was rejected: spec.hostUsers: the container runtime does not support user namespaces; containerd does from 2.0 on, CRI-O from 1.25 on, Docker has none for single pods',
    )
    assert.deepEqual(agent.reasons(), ['UnsupportedField'])
  })

  test('waits for ids when all are in use, and says so', async () => {
    await using world = await createWorld({ handlers: { '': ABLE } })
    await using agent = await startAgent(world, { allocatable: { pods: '4', cpu: '4', memory: '4Gi' } })
    const first = apart('u-1')
    const finished = { ...first, spec: { ...first.spec, restartPolicy: 'Never' } }
    agent.setPods([finished])
    await agent.settle()
    // It makes room for another pod, and keeps its ids until it is removed.
    world.cri.exitContainer(instanceOf(world), 0)
    await agent.settle()
    const pods = [finished, ...['u-2', 'u-3', 'u-4'].map((uid) => apart(uid))]
    agent.setPods(pods)
    await agent.settle()
    agent.setPods([...pods, apart('u-5')])
    await agent.settle()
    assert.equal(agent.statusOf('u-5')?.phase, 'Pending')
    assert.deepEqual(
      agent.events.filter(({ uid }) => uid === 'u-5').map(({ reason, message }) => `${reason}: ${message}`),
      [
        'FailedCreatePodSandBox: Failed to create pod sandbox: Cannot give the pod a user namespace: all 4 ranges of ids are in use by other pods',
      ],
    )
    agent.setPods([...pods.slice(1), apart('u-5')])
    await agent.pass(25_000)
    assert.equal(agent.statusOf('u-5')?.phase, 'Running')
  })
})

describe('a pod with a runtime class', () => {
  const classed = (spec = {}) => createWantedPod('u-1', { runtimeClassName: 'sandboxed', ...spec })
  const classes: RuntimeClasses = {
    find: (name) => (name === 'sandboxed' ? { kind: 'found', value: { handler: 'kata' } } : { kind: 'missing' }),
  }

  test('runs with the handler of its class, and its overhead is reported', async () => {
    await using world = await createWorld({ handlers: { kata: {} } })
    await using agent = await startAgent(world, { runtimeClasses: classes })
    agent.setPods([classed({ overhead: { cpu: '250m', memory: '64Mi' } })])
    await agent.settle()
    assert.equal(agent.statusOf('u-1')?.phase, 'Running')
    const [request] = world.cri.requests('runPodSandbox')
    assert.equal(request?.runtimeHandler, 'kata')
    const { cpuShares, cpuQuota, memoryLimitInBytes } = request.config?.linux?.overhead ?? {}
    assert.deepEqual([cpuShares, cpuQuota, memoryLimitInBytes], [256n, 25_000n, 64n * 1024n ** 2n])
  })

  test('keeps running while its class cannot be looked up', async () => {
    await using world = await createWorld({ handlers: { kata: {} } })
    let away = false
    const find: RuntimeClasses['find'] = (name) => (away ? { kind: 'unavailable', why: 'away' } : classes.find(name))
    await using agent = await startAgent(world, { runtimeClasses: { find } })
    agent.setPods([classed()])
    await agent.settle()
    away = true
    world.cri.exitContainer(instanceOf(world), 1)
    await agent.pass(1000)
    assert.deepEqual(running(world), ['main'])
  })

  const waiting: readonly (readonly [string, RuntimeClasses['find'] | undefined, string])[] = [
    ['is not there', () => ({ kind: 'missing' }), 'runtimeclass.node.k8s.io "sandboxed" not found'],
    ['cannot be looked up', undefined, 'Cannot look up runtime class "sandboxed": this node has no API server'],
    [
      'names a handler that the runtime does not have',
      () => ({ kind: 'found', value: { handler: 'vm' } }),
      'rpc error: code = Unknown desc = failed to get sandbox runtime: no runtime for "vm" is configured',
    ],
  ]
  for (const [name, find, message] of waiting) {
    test(`that ${name} stays pending, says so, and starts once it can`, async () => {
      await using world = await createWorld({ handlers: { kata: {} } })
      let current: RuntimeClasses['find'] | undefined = find
      const runtimeClasses = {
        find: (className: string) =>
          (current ?? (() => ({ kind: 'unavailable', why: 'this node has no API server' }) as const))(className),
      }
      await using agent = await startAgent(world, { runtimeClasses })
      agent.setPods([classed()])
      await agent.settle()
      assert.equal(agent.statusOf('u-1')?.phase, 'Pending')
      assert.equal(world.cri.runtime.sandboxes.size, 0)
      assert.deepEqual(
        agent.events.filter(({ type }) => type === 'Warning').map((event) => `${event.reason}: ${event.message}`),
        [`FailedCreatePodSandBox: Failed to create pod sandbox: ${message}`],
      )
      current = (className) => classes.find(className)
      await agent.pass(16_000)
      assert.equal(agent.statusOf('u-1')?.phase, 'Running')
    })
  }

  test('and users of its own is asked for both: the handler has to know user namespaces', async () => {
    await using world = await createWorld({ handlers: { '': ABLE, kata: {} } })
    await using agent = await startAgent(world, { runtimeClasses: classes })
    agent.setPods([classed({ hostUsers: false })])
    await agent.settle()
    assert.deepEqual(changes(world), [])
    assert.equal(world.userNamespaces.texts.size, 0)
    assert.deepEqual(
      agent.events.map(({ message }) => message),
      [
        'Failed to create pod sandbox: Cannot run with hostUsers: false: runtime handler "kata" does not support user namespaces',
      ],
    )
  })

  test('with an empty name runs as all others', async () => {
    await using world = await createWorld()
    await using agent = await startAgent(world)
    agent.setPods([classed({ runtimeClassName: '' })])
    await agent.settle()
    assert.equal(world.cri.requests('runPodSandbox')[0]?.runtimeHandler, '')
  })
})
