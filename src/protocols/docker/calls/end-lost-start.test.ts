import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { FakeDocker } from '../../../../test/fakes/fake-docker.ts'
import type { DockerCall } from '../../../../test/fakes/fake-docker.ts'
import { systemClock } from '../../../base/async/clock.ts'
import { silentLogger } from '../../../base/telemetry/silent-logger.ts'
import type { DockerFiles } from '../../../system/directories/docker-files.ts'
import { ContainerState } from '../../cri/generated/runtime-v1.ts'
import { createDockerClient } from '../docker-client.ts'

const { signal } = new AbortController()
const NEVER = '0001-01-01T00:00:00Z'
const SANDBOX = 'b'.repeat(64)
const MAIN = 'c'.repeat(64)

interface Part {
  type: 'podsandbox' | 'container'
  name: string
  running: boolean
}

/** A Docker that has these parts, and a machine on which these processes run of them. */
async function setUp(t: TestContext, parts: Map<string, Part>, processes: Map<string, string[]>) {
  const docker = await FakeDocker.start()
  const killed: string[] = []
  const labels = (part: Part) => ({
    'io.kubernetes.docker.type': part.type,
    ...(part.type === 'container' ? { 'io.kubernetes.sandbox.id': SANDBOX } : {}),
  })
  const list = ({ query }: DockerCall) => {
    const { label } = JSON.parse(query.get('filters') ?? '{}') as { label: string[] }
    const found = [...parts].filter(([, part]) =>
      label.every((one) => Object.entries(labels(part)).some(([key, value]) => one === `${key}=${value}`)),
    )
    const body = found.map(([id, part]) => {
      const state = part.running ? 'running' : 'created'
      return { Id: id, Names: [part.name], State: state, Created: 1, Image: 'i', ImageID: 'i', Labels: labels(part) }
    })
    return { status: 200, body }
  }
  const inspect = (id: string, part: Part) => {
    const ended = { OOMKilled: false, Pid: 0, ExitCode: 0, Error: '', StartedAt: NEVER, FinishedAt: NEVER }
    const state = { ...ended, Status: part.running ? 'running' : 'created', Running: part.running }
    const config = { Image: 'i', Labels: labels(part) }
    const body = { Id: id, Name: part.name, Created: '2026-01-01T00:00:00Z', Image: 'i', State: state, Config: config }
    return { status: 200, body: { ...body, HostConfig: { NetworkMode: 'default' } } }
  }
  docker.answer = (call) => {
    if (call.path === '/containers/json') return list(call)
    const [, id = '', action] = /^\/containers\/(\w+)(?:\/(\w+))?$/.exec(call.path) ?? []
    const part = parts.get(id)
    if (part === undefined) return undefined
    if (action === 'json') return inspect(id, part)
    if (action === 'rename') part.name = `/${call.query.get('name') ?? ''}`
    if (call.method === 'DELETE') parts.delete(id)
    return { status: 204 }
  }
  const files: DockerFiles = {
    linkLog: async () => {},
    unlinkLog: async () => {},
    writeInPlace: async () => {},
    readText: async () => '',
    listProcesses: async (id) => (processes.get(id) ?? []).map((name, index) => ({ pid: 100 + index, name })),
    killInContainer: async (_pid, id) => {
      killed.push(...(processes.get(id) ?? []))
      processes.delete(id)
    },
    openDialer: () => assert.fail('no ports here'),
    findNetworkNamespace: async () => '',
    leastOomScore: () => -1000,
  }
  const client = createDockerClient({
    runtimeEndpoint: `unix://${docker.socket}`,
    requestTimeoutMs: 10_000,
    pauseImages: ['pause:1'],
    logLimits: { maxSizeBytes: -1, maxFiles: 1 },
    clock: systemClock,
    log: silentLogger,
    files,
  })
  t.after(async () => {
    client.close()
    await docker[Symbol.asyncDispose]()
  })
  const changes = () => docker.calls.filter(({ method }) => method !== 'GET').map(({ method, path }) => [method, path])
  return { client, killed, changes }
}

const main = (running = false): Part => ({ type: 'container', name: '/k8s_main_web_shop_u_0', running })
const sandbox = (running: boolean): Part => ({ type: 'podsandbox', name: '/k8s_POD_web_shop_u_0', running })
const remove = (id: string) => ['DELETE', `/containers/${id}`]

describe('a container that Docker lost sight of while it started it', () => {
  test('is ended, and has run: it is not removed before that was seen', async (t) => {
    const { client, killed, changes } = await setUp(t, new Map([[MAIN, main()]]), new Map([[MAIN, ['sh', 'sleep']]]))
    await assert.rejects(client.removeContainer({ containerId: MAIN }, signal), { code: 'Unavailable', detail: /ran/ })
    assert.deepEqual(killed, ['sh', 'sleep'])
    const { containers } = await client.listContainers({}, signal)
    const { status } = await client.containerStatus({ containerId: MAIN }, signal)
    assert.deepEqual([containers[0]?.state, status?.state], Array(2).fill(ContainerState.CONTAINER_EXITED))
    assert.deepEqual([status?.reason, status?.exitCode], ['StartError', 128])
    assert.match(status?.message ?? '', /context canceled/)
    await client.removeContainer({ containerId: MAIN }, signal)
    assert.deepEqual(changes(), [['POST', `/containers/${MAIN}/rename`], remove(MAIN)])
  })

  test('is ended also when an agent died after it had marked it', async (t) => {
    const marked = { ...main(), name: `${main().name}_begun` }
    const { client, killed, changes } = await setUp(t, new Map([[MAIN, marked]]), new Map([[MAIN, ['sh']]]))
    await client.removeContainer({ containerId: MAIN }, signal)
    assert.deepEqual([killed, changes()], [['sh'], [remove(MAIN)]])
  })

  test('has not run while runc waits: it is ended and removed', async (t) => {
    const processes = new Map([[MAIN, ['runc:[2:INIT]']]])
    const { client, killed, changes } = await setUp(t, new Map([[MAIN, main()]]), processes)
    await client.removeContainer({ containerId: MAIN }, signal)
    assert.deepEqual([killed, changes()], [['runc:[2:INIT]'], [remove(MAIN)]])
  })

  test('ends with its sandbox', async (t) => {
    const parts = new Map([
      [SANDBOX, sandbox(true)],
      [MAIN, main()],
    ])
    const { client, killed, changes } = await setUp(t, parts, new Map([[MAIN, ['sh']]]))
    await client.stopPodSandbox({ podSandboxId: SANDBOX }, signal)
    assert.deepEqual(killed, ['sh'])
    assert.deepEqual(changes().at(-1), ['POST', `/containers/${SANDBOX}/stop`])
  })
})

describe('a sandbox that Docker lost sight of while it started it', () => {
  for (const processes of [['pause'], ['runc:[2:INIT]'], []])
    test(`with ${processes.join() || 'no process'} is ended and gone when it is stopped`, async (t) => {
      const parts = new Map([[SANDBOX, sandbox(false)]])
      const { client, killed, changes } = await setUp(t, parts, new Map([[SANDBOX, processes]]))
      await client.stopPodSandbox({ podSandboxId: SANDBOX }, signal)
      assert.deepEqual([killed, changes()], [processes, [remove(SANDBOX)]])
    })

  test('is ended when it is removed', async (t) => {
    const parts = new Map([[SANDBOX, sandbox(false)]])
    const { client, killed, changes } = await setUp(t, parts, new Map([[SANDBOX, ['pause']]]))
    await client.removePodSandbox({ podSandboxId: SANDBOX }, signal)
    assert.deepEqual([killed, changes()], [['pause'], [remove(SANDBOX)]])
  })
})

test('what Docker knows to run is stopped by Docker', async (t) => {
  const parts = new Map([
    [SANDBOX, sandbox(true)],
    [MAIN, main(true)],
  ])
  const processes = new Map([
    [SANDBOX, ['pause']],
    [MAIN, ['sh']],
  ])
  const { client, killed, changes } = await setUp(t, parts, processes)
  await client.stopPodSandbox({ podSandboxId: SANDBOX }, signal)
  assert.deepEqual(killed, [])
  assert.deepEqual(
    changes(),
    [MAIN, SANDBOX].map((id) => ['POST', `/containers/${id}/stop`]),
  )
})
