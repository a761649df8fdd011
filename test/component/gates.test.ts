import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { PodSpec } from '../../src/model/generated/core-v1.ts'
import type { RuntimeClasses } from '../../src/pods/sync/start/runtime-classes.ts'
import { startAgent } from './create-agent.ts'
import type { Agent } from './create-agent.ts'
import { createWantedContainer, createWantedPod, createWorld, instanceOf, running } from './create-world.ts'

const gate = (text: string) => ({ flags: [`--feature-gates=${text}`] })
const RESTART_ON_3 = [{ action: 'Restart', exitCodes: { operator: 'In', values: [3] } }]

function ignored(agent: Agent): readonly string[] {
  return agent.events.flatMap(({ reason, message }) => (reason === 'UnsupportedField' ? [message] : []))
}

describe('a feature that is switched off', () => {
  test('ContainerRestartRules: only the policy of the pod counts, and what is ignored is an event', async () => {
    for (const [gates, phase] of [
      ['EnvFiles=true', 'Running'],
      ['ContainerRestartRules=false,RestartAllContainersOnContainerExits=false', 'Failed'],
    ] as const) {
      await using world = await createWorld()
      await using agent = await startAgent(world, gate(gates))
      const main = createWantedContainer({ restartPolicy: 'Never', restartPolicyRules: RESTART_ON_3 })
      const proxy = createWantedContainer({ name: 'proxy', restartPolicy: 'Always' })
      agent.setPods([createWantedPod('u-1', { restartPolicy: 'Never', initContainers: [proxy], containers: [main] })])
      await agent.pass(1000)
      assert.deepEqual(running(world), ['main', 'proxy'], 'a sidecar is one without the feature, too')
      world.cri.exitContainer(instanceOf(world), 3)
      await agent.pass(15_000)
      assert.equal(agent.statusOf('u-1')?.phase, phase, gates)
      const off = (path: string) => `Ignored spec.containers[0].${path}: the feature gate ContainerRestartRules is off`
      assert.deepEqual(ignored(agent), phase === 'Failed' ? [off('restartPolicy'), off('restartPolicyRules')] : [])
    }
  })

  test('RestartAllContainersOnContainerExits: the others go on', async () => {
    await using world = await createWorld()
    await using agent = await startAgent(
      world,
      gate('RestartAllContainersOnContainerExits=false,NodeDeclaredFeatures=true'),
    )
    const restartPolicyRules = [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } }]
    const main = createWantedContainer({ restartPolicy: 'Never', restartPolicyRules })
    agent.setPods([createWantedPod('u-1', { containers: [main, createWantedContainer({ name: 'peer' })] })])
    await agent.pass(1000)
    const peer = instanceOf(world, 'peer')
    world.cri.exitContainer(instanceOf(world), 42)
    await agent.pass(5000)
    assert.deepEqual([running(world), instanceOf(world, 'peer')], [['peer'], peer])
    assert.equal(ignored(agent).length, 1)
  })

  test('EnvFiles: the variable has no value, and no file is read', async () => {
    await using world = await createWorld()
    await using agent = await startAgent(world, gate('EnvFiles=false'))
    const env = [
      { name: 'KEY', valueFrom: { fileKeyRef: { volumeName: 'none', path: 'e', key: 'KEY' } } },
      { name: 'OTHER', value: 'x' },
    ]
    agent.setPods([createWantedPod('u-1', { containers: [createWantedContainer({ env })] })])
    await agent.settle()
    const [{ config } = {}] = world.cri.requests('createContainer')
    assert.deepEqual(
      config?.envs.map(({ key, value }) => `${key}=${Buffer.from(value).toString()}`),
      ['KEY=', 'OTHER=x'],
    )
    assert.deepEqual(ignored(agent), ['Ignored spec.containers[0].env: the feature gate EnvFiles is off'])
  })

  test('HostnameOverride: the pod is called by its own name', async () => {
    const hostnameOf = async (...gates: string[]) => {
      await using world = await createWorld()
      await using agent = await startAgent(world, gates.length === 0 ? {} : gate(gates.join()))
      agent.setPods([createWantedPod('u-1', { hostnameOverride: 'db.example' })])
      await agent.settle()
      return world.cri.requests('runPodSandbox').map(({ config }) => config?.hostname)
    }
    assert.deepEqual(await hostnameOf(), ['db.example'])
    assert.deepEqual(await hostnameOf('HostnameOverride=false'), ['pod-u-1'])
  })

  test('PodReadyToStartContainersCondition: the condition is not reported', async () => {
    await using world = await createWorld()
    await using agent = await startAgent(world, gate('PodReadyToStartContainersCondition=false'))
    agent.setPods([createWantedPod()])
    await agent.settle()
    assert.deepEqual(
      agent.statusOf('u-1')?.conditions?.map(({ type }) => type),
      ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'],
    )
  })

  test('PLEGOnDemandRelist: what the agent did is seen by the next relist, which comes every second', async () => {
    const passes = async (gates: string) => {
      await using world = await createWorld()
      await using agent = await startAgent(world, gate(gates))
      await agent.settle()
      agent.setPods([createWantedPod()])
      await agent.settle()
      const atOnce = agent.statusOf('u-1')?.phase
      await agent.pass(3000)
      assert.equal(agent.statusOf('u-1')?.phase, 'Running')
      world.cri.exitContainer(instanceOf(world), 1)
      await agent.pass(15_000)
      assert.deepEqual(running(world), ['main'])
      agent.setPods([])
      await agent.pass(15_000)
      assert.deepEqual([running(world), world.cri.runtime.sandboxes.size], [[], 0])
      return atOnce
    }
    assert.equal(await passes('PLEGOnDemandRelist=true'), 'Running')
    assert.equal(await passes('PLEGOnDemandRelist=false'), 'Pending')
  })
})

describe('a feature that is switched on', () => {
  test('ChangeContainerStatusOnKubeletRestart: a new agent asks again before a container is ready', async () => {
    const readiness = { exec: { command: ['ready'] }, periodSeconds: 10, timeoutSeconds: 1, failureThreshold: 3 }
    for (const isOn of [false, true]) {
      let exitCode = 0
      await using world = await createWorld({ onExec: () => ({ exitCode }) })
      const readinessProbe = { ...readiness, successThreshold: 1 }
      const pod = createWantedPod('u-1', { containers: [createWantedContainer({ readinessProbe })] })
      const isReady = (agent: Agent) => agent.statusOf('u-1')?.containerStatuses?.[0]?.ready
      {
        await using agent = await startAgent(world)
        agent.setPods([pod])
        await agent.pass(15_000)
        assert.equal(isReady(agent), true)
      }
      exitCode = 1
      await using agent = await startAgent(world, gate(`ChangeContainerStatusOnKubeletRestart=${isOn}`))
      agent.setPods([pod])
      await agent.settle()
      assert.equal(isReady(agent), !isOn)
    }
  })

  test('ReduceDefaultCrashLoopBackOffDecay: the first wait after a crash is a second', async () => {
    for (const isOn of [true, false]) {
      await using world = await createWorld()
      await using agent = await startAgent(world, gate(`ReduceDefaultCrashLoopBackOffDecay=${isOn}`))
      agent.setPods([createWantedPod()])
      await agent.pass(1000)
      for (const restarts of [1, 2]) {
        world.cri.exitContainer(instanceOf(world), 1)
        await agent.pass(restarts === 1 ? 500 : 1500)
      }
      assert.deepEqual(running(world), isOn ? ['main'] : [], 'the first restart is at once, the second waits')
    }
  })

  test('CRIListStreaming: lists come as streams, or whole from a runtime that has none', async () => {
    for (const newer of [true, false]) {
      await using world = await createWorld({ newer })
      await using agent = await startAgent(world, gate('CRIListStreaming=true'))
      agent.setPods([createWantedPod()])
      await agent.settle()
      assert.equal(agent.statusOf('u-1')?.phase, 'Running')
      const asked = (...methods: string[]) => world.cri.called.filter(({ method }) => methods.includes(method)).length
      const whole = asked('listContainers', 'listPodSandbox')
      assert.equal(whole === 0, newer)
      const said = agent.lines.filter(({ message }) => message.startsWith('the runtime has no streams'))
      assert.equal(said.length, newer ? 0 : 1)
    }
  })

  test('ImageVolumeWithDigest: the status has what is mounted', async () => {
    const data = 'registry.test/data:1'
    const spec: Partial<PodSpec> = {
      volumes: [{ name: 'data', image: { reference: data, pullPolicy: 'IfNotPresent' } }],
      containers: [createWantedContainer({ volumeMounts: [{ name: 'data', mountPath: '/data' }] })],
    }
    for (const isOn of [true, false]) {
      await using world = await createWorld({ version: { name: 'containerd', version: 'v2.2.0' } })
      await using agent = await startAgent(world, gate(`ImageVolumeWithDigest=${isOn}`))
      agent.setPods([createWantedPod('u-1', spec)])
      await agent.settle()
      const imageRef = world.cri.images.find(data)?.id
      assert.deepEqual(agent.statusOf('u-1')?.containerStatuses?.[0]?.volumeMounts, [
        { name: 'data', mountPath: '/data', ...(isOn && { volumeStatus: { image: { imageRef } } }) },
      ])
    }
  })

  test('RuntimeClassInImageCriApi: images are asked for with the handler of the pod', async () => {
    const runtimeClasses: RuntimeClasses = { find: () => ({ kind: 'found', value: { handler: 'vm' } }) }
    for (const isOn of [true, false]) {
      await using world = await createWorld({ images: [], handlers: { vm: {} } })
      await using agent = await startAgent(world, { ...gate(`RuntimeClassInImageCriApi=${isOn}`), runtimeClasses })
      agent.setPods([createWantedPod('u-1', { runtimeClassName: 'vm' }), createWantedPod('u-2')])
      await agent.settle()
      assert.deepEqual(running(world), ['main', 'main'])
      const handlers = world.cri.requests('pullImage').map(({ image }) => image?.runtimeHandler)
      assert.deepEqual(new Set(handlers), new Set(isOn ? ['', 'vm'] : ['']))
    }
  })
})
