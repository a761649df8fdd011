import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { describe, test } from 'node:test'
import { systemClock } from '../../src/base/async/clock.ts'
import { silentLogger } from '../../src/base/telemetry/silent-logger.ts'
import type { Node, Pod } from '../../src/model/generated/core-v1.ts'
import { runSimulation } from '../../src/simulation/nodes/run-simulation.ts'
import { parseSimulation } from '../../src/simulation/options/parse-simulation.ts'
import type { SimulationTexts } from '../../src/simulation/options/parse-simulation.ts'
import { startSecuredApi } from './api-server/start-secured-api.ts'
import type { SecuredApi } from './api-server/start-secured-api.ts'

const PODS = '/api/v1/namespaces/shop/pods'
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases'
const PATIENCE_MS = 60_000

const RULES = `
rules:
  - match: {image: "*/crash:*"}
    exitsAfter: 50ms
    exitCode: 7
  - match: {labels: {app: broken}}
    startFailure: no such program
  - match: {pod: "late-*"}
    readyAfter: 1s
  - match: {namespace: shop, container: hungry}
    memory: 980Mi
    cpu: 500m
    ignoresTerm: true
`

describe('deckhand simulate', () => {
  test('20 nodes are real agents with containers that do what rules say, and leave nothing behind', async (t) => {
    const api = await startSecuredApi(t)
    await api.call(api.admin, 'POST', '/api/v1/namespaces', { metadata: { name: 'shop' } })
    await using simulation = await startSimulation(api, {
      nodes: '20',
      capacity: 'cpu=2,memory=1Gi,pods=30',
      labels: 'zone=a',
      taints: 'dedicated=test:NoSchedule',
      'start-time': '200ms-300ms',
    })
    const nodes = await until(async () => {
      const all = (await list<Node>(api, '/api/v1/nodes')).filter(({ metadata }) => isSimulated(metadata?.name))
      return all.length === 20 && all.every((node) => isTrue(node, 'Ready')) ? all : undefined
    }, 'all nodes are ready')
    const [first] = nodes
    assert.equal(first?.status?.capacity?.['cpu'], '2')
    assert.equal(first?.status?.capacity?.['pods'], '30')
    assert.equal(first?.metadata?.labels?.['zone'], 'a')
    assert.ok(first?.spec?.taints?.some(({ key, effect }) => key === 'dedicated' && effect === 'NoSchedule'))
    assert.equal(new Set(nodes.map(({ status }) => status?.addresses?.[0]?.address)).size, 20)
    assert.equal((await list(api, LEASES)).filter(({ metadata }) => isSimulated(metadata?.name)).length, 20)

    const names = nodes.flatMap(({ metadata }) => metadata?.name ?? [])
    await Promise.all(names.flatMap((name) => [1, 2, 3].map((index) => bind(api, `web-${index}-${name}`, name))))
    const running = await until(async () => {
      const all = await list<Pod>(api, PODS)
      return all.length === 60 && all.every((pod) => isTrue(pod, 'Ready')) ? all : undefined
    }, 'all pods are ready')
    assert.equal(new Set(running.map(({ status }) => status?.podIP)).size, 60)
    for (const { status } of running) {
      const started = Date.parse(status?.containerStatuses?.[0]?.state?.running?.startedAt ?? '')
      assert.ok(started >= Date.parse(status?.startTime ?? ''), 'a container starts after its pod was taken')
    }

    // Each of these needs another part of the agent: restarts, failures, probes, eviction.
    const [a = '', b = ''] = names
    await bind(api, 'crash-1', a, { image: 'registry.test/crash:1' })
    await bind(api, 'broken-1', a, {}, { app: 'broken' })
    await bind(api, 'late-1', a, { readinessProbe: { httpGet: { port: 80 }, periodSeconds: 1 } })
    await bind(api, 'hungry-1', b, { name: 'hungry' })
    const crashed = await until(async () => {
      const pod = await get(api, 'crash-1')
      return (pod.status?.containerStatuses?.[0]?.restartCount ?? 0) >= 1 ? pod : undefined
    }, 'a container that ends is started again')
    assert.equal(crashed.status?.containerStatuses?.[0]?.lastState?.terminated?.exitCode, 7)
    await until(async () => {
      const state = (await get(api, 'broken-1')).status?.containerStatuses?.[0]
      const reasons = [state?.state?.waiting?.reason, state?.lastState?.terminated?.reason]
      return reasons.includes('RunContainerError') || reasons.includes('StartError') || undefined
    }, 'a container that cannot be started says so')
    const late = await until(async () => {
      const pod = await get(api, 'late-1')
      return isTrue(pod, 'Ready') ? pod : undefined
    }, 'a pod becomes ready when its probe succeeds')
    const runs = Date.parse(late.status?.containerStatuses?.[0]?.state?.running?.startedAt ?? '')
    const ready = late.status?.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime ?? ''
    assert.ok(Date.parse(ready) >= runs + 1000, `ready at ${ready}, running since ${new Date(runs).toISOString()}`)
    await until(async () => {
      const pod = await get(api, 'hungry-1')
      return pod.status?.reason === 'Evicted' ? pod : undefined
    }, 'a pod that takes the memory of its node is evicted')

    await api.call(api.admin, 'DELETE', `${PODS}/late-1`)
    await until(
      async () => (await list<Pod>(api, PODS)).every(({ metadata }) => metadata?.name !== 'late-1'),
      'it ends',
    )
    const state = simulation.state()
    assert.equal(state.nodes, 20)
    assert.ok((state.requests.get('PATCH pods/status') ?? 0) >= 120)
    assert.equal(state.requests.get('WATCH services'), 1)

    await simulation.stop()
    assert.deepEqual(
      (await list(api, '/api/v1/nodes')).filter(({ metadata }) => isSimulated(metadata?.name)),
      [],
    )
    assert.deepEqual(
      (await list(api, LEASES)).filter(({ metadata }) => isSimulated(metadata?.name)),
      [],
    )
    assert.deepEqual(await list(api, PODS), [])
    assert.match(simulation.lines.join('\n'), /PUT leases|POST leases/)
  })

  test('nodes are left as not ready when that is asked for', async (t) => {
    const api = await startSecuredApi(t)
    await using simulation = await startSimulation(api, { nodes: '2', prefix: 'sim-', 'at-end': 'mark' })
    await until(async () => {
      const all = (await list<Node>(api, '/api/v1/nodes')).filter(({ metadata }) => metadata?.name?.startsWith('sim-'))
      return all.length === 2 && all.every((node) => isTrue(node, 'Ready'))
    }, 'both nodes are ready')
    await simulation.stop()
    const nodes = (await list<Node>(api, '/api/v1/nodes')).filter(({ metadata }) => metadata?.name?.startsWith('sim-'))
    assert.deepEqual(
      nodes.map(({ status }) => status?.conditions?.find(({ type }) => type === 'Ready')?.reason),
      ['SimulationEnded', 'SimulationEnded'],
    )
  })
})

async function startSimulation(api: SecuredApi, texts: SimulationTexts) {
  const rules = join(api.folder, 'rules.yaml')
  writeFileSync(rules, RULES)
  const given = { kubeconfig: join(api.folder, 'admin.kubeconfig'), rules, 'report-every': '1s', ...texts }
  const started = Promise.withResolvers<Parameters<NonNullable<Parameters<typeof runSimulation>[0]['onStarted']>>[0]>()
  const stop = new AbortController()
  const lines: string[] = []
  const running = runSimulation(
    {
      say: (line) => void lines.push(line),
      usage: () => ({ cpuMs: 0, memoryBytes: 0 }),
      environment: {},
      clock: systemClock,
      random: Math.random,
      log: silentLogger,
      onStarted: started.resolve,
    },
    parseSimulation(given, (path) => path),
    stop.signal,
  )
  running.catch(started.reject)
  const state = await started.promise
  const end = async () => {
    stop.abort(new Error('The test ends'))
    await running
  }
  return { state, lines, stop: end, [Symbol.asyncDispose]: end }
}

function isSimulated(name: string | undefined): boolean {
  return name?.startsWith('simulated-') === true
}

function isTrue({ status }: Node | Pod, condition: string): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === condition && is === 'True') === true
}

async function bind(
  api: SecuredApi,
  name: string,
  nodeName: string,
  container: object = {},
  labels: Readonly<Record<string, string>> = {},
): Promise<void> {
  const containers = [{ name: 'main', image: 'registry.test/app:1', ...container }]
  const body = { metadata: { name, labels }, spec: { nodeName, automountServiceAccountToken: false, containers } }
  const answer = await api.call(api.admin, 'POST', PODS, body)
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
}

async function get(api: SecuredApi, name: string): Promise<Pod> {
  return (await api.call(api.admin, 'GET', `${PODS}/${name}`)).body
}

async function list<T = Node>(api: SecuredApi, path: string): Promise<readonly T[]> {
  return ((await api.call(api.admin, 'GET', path)).body as { items?: T[] }).items ?? []
}

async function until<T>(look: () => Promise<T | undefined | false>, what: string): Promise<T> {
  const giveUpAt = performance.now() + PATIENCE_MS
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    if (performance.now() > giveUpAt) assert.fail(`expected in time: ${what}`)
    await setTimeout(100)
  }
}
