import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { createContainer } from '../../../test/builders/create-pod.ts'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { Turnstile } from '../../base/async/turnstile.ts'
import { CriCallError } from '../../protocols/cri/cri-call-error.ts'
import type { CriCalls } from '../../protocols/cri/cri-calls.ts'
import type { GrpcHealthRequest } from '../../protocols/grpc/check-grpc-health.ts'
import type { Probe } from '../../model/generated/core-v1.ts'
import { podNetwork } from './pod-network.ts'
import { runProbe } from './run-probe.ts'

const never = new AbortController().signal
const none = new Uint8Array()

function setUp(exits: readonly (number | 'broken')[] = [0], containerPort = 8080) {
  // Nothing in here waits for time; what runs into a deadline would hang.
  const clock = new FakeClock()
  const asked: string[] = []
  const checked: GrpcHealthRequest[] = []
  const execSync: CriCalls['execSync'] = async ({ containerId, cmd = [] }) => {
    const exit = exits[asked.length] ?? 0
    asked.push([containerId, ...cmd].join(' '))
    if (exit === 'broken') throw new CriCallError('execSync', 'Unavailable', 'gone')
    return { exitCode: exit, stdout: none, stderr: none }
  }
  const deps = {
    clock,
    network: podNetwork,
    calls: { execSync },
    execs: new Turnstile({ places: 1, patienceMs: 1000, clock }),
    checkGrpcHealth: async (request: GrpcHealthRequest) => {
      checked.push(request)
      return { kind: 'answered', status: 'SERVING' } as const
    },
  }
  const container = createContainer({ env: [{ name: 'A', value: '1' }], ports: [{ name: 'web', containerPort }] })
  const ask = (probe: Probe, podIp = '') => runProbe(deps, { probe, container, containerId: 'c-1', podIp }, never)
  return { ask, asked, checked }
}

const exec: Probe = { exec: { command: ['echo', '$(A)'] } }

describe('runProbe()', () => {
  const rows: readonly (readonly [
    name: string,
    exits: readonly (number | 'broken')[],
    result: string,
    asked: number,
  ])[] = [
    ['asks once when it gets an answer', [0], 'success', 1],
    ['asks once also when the answer is no', [1], 'failure', 1],
    ['asks again when it could not ask', ['broken', 0], 'success', 2],
    ['gives up after three attempts', ['broken', 'broken', 'broken', 0], 'error', 3],
  ]
  for (const [name, exits, result, count] of rows) {
    test(name, async () => {
      const { ask, asked } = setUp(exits)
      assert.equal((await ask(exec)).result, result)
      assert.deepEqual(
        asked,
        Array.from({ length: count }, () => 'c-1 echo 1'),
      )
    })
  }

  test('resolves named ports, and asks at the address of the pod unless another host is given', async (t) => {
    const seen: string[] = []
    const server = createServer(({ url, headers }, response) => {
      seen.push(`${url} ${headers['user-agent']}`)
      response.end()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => server.close())
    const { port } = server.address() as AddressInfo
    const { ask } = setUp([], port)
    const outcomes = await Promise.all([
      ask({ tcpSocket: { port: 'web' } }, '127.0.0.1'),
      ask({ tcpSocket: { port: 'web', host: '127.0.0.1' } }),
      ask({ httpGet: { port: 'web', path: '/x' } }, '127.0.0.1'),
      ask({ httpGet: { port, host: '127.0.0.1' } }),
    ])
    assert.deepEqual(
      outcomes.map(({ result }) => result),
      ['success', 'success', 'success', 'success'],
    )
    assert.deepEqual(seen.sort(), ['/ kube-probe/1.36', '/x kube-probe/1.36'])
  })

  for (const probe of [
    { tcpSocket: { port: 80 } },
    { httpGet: { port: 80 } },
    { grpc: { port: 80 } },
  ] satisfies Probe[]) {
    test(`${JSON.stringify(probe)} is a failure while the pod has no address`, async () => {
      assert.deepEqual(await setUp().ask(probe), {
        result: 'failure',
        output: 'Cannot connect: the pod has no address',
      })
    })
  }

  test('asks gRPC with the service that the spec names', async () => {
    const { ask, checked } = setUp()
    await ask({ grpc: { port: 50_051, service: 'shop' }, timeoutSeconds: 3 }, '10.0.0.2')
    await ask({ grpc: { port: 50_051 } }, '10.0.0.2')
    assert.deepEqual(
      checked.map(({ service, timeoutMs }) => [service, timeoutMs]),
      [
        ['shop', 3000],
        ['', 1000],
      ],
    )
  })

  for (const probe of [{ tcpSocket: { port: 'none' } }, { httpGet: { port: 0 } }, {}] satisfies Probe[]) {
    test(`${JSON.stringify(probe)} is an error`, async () => {
      const { ask } = setUp()
      const outcome = await ask(probe, '127.0.0.1')
      assert.deepEqual([outcome.result, 'state' in outcome && outcome.state], ['error', 'unknown'])
    })
  }
})
