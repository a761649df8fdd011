import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { createPod } from '../test/builders/create-pod.ts'
import { FakeClock } from '../test/fakes/fake-clock.ts'
import { loadFields } from '../test/fakes/load-settings.ts'
import type { PodWorkers } from './pods/pod-workers.ts'
import { runServers } from './run-servers.ts'
import type { AgentMetrics } from './telemetry/create-metrics.ts'
import type { Logger } from './telemetry/logger.ts'

/** A port that nobody uses now. */
async function findPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function run(fields: object, problem: () => string | undefined = () => undefined) {
  const settings = await loadFields({ address: '127.0.0.1', healthzBindAddress: '127.0.0.1', ...fields })
  const listening: unknown[] = []
  const say = () => {}
  const log: Logger = {
    error: say,
    warn: say,
    debug: say,
    info: (_, values) => void listening.push(values?.['server']),
    child: () => log,
  }
  const workers = { views: () => [{ pod: createPod(), status: { phase: 'Running' } }] } as unknown as PodWorkers
  const metrics = {
    render: async () => ({ type: 'text/plain', body: 'up 1\n' }),
    requestStarted: say,
    requestEnded: say,
    healthChecked: say,
  } as unknown as AgentMetrics
  const stop = new AbortController()
  const deps = { settings, workers, metrics, clock: new FakeClock(), log, syncLoop: problem }
  return { running: runServers(deps, stop.signal), listening, leave: () => stop.abort(new Error('leave')) }
}

async function get(port: number, path: string): Promise<readonly [number, string]> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`)
  return [response.status, await response.text()]
}

async function untilListening(server: { readonly listening: unknown[] }, count: number): Promise<void> {
  while (server.listening.length < count) await new Promise((resolve) => setImmediate(resolve))
}

describe('runServers()', () => {
  test('serves nothing when no port is configured, and is done', async () => {
    const { running, listening } = await run({ healthzPort: 0, readOnlyPort: 0 })
    await running
    assert.deepEqual(listening, [])
  })

  test('serves health alone on one port, and pods and metrics too on the other', async () => {
    const [healthzPort, readOnlyPort] = [await findPort(), await findPort()]
    let problem: string | undefined
    const servers = await run({ healthzPort, readOnlyPort }, () => problem)
    await untilListening(servers, 2)
    assert.deepEqual(await get(healthzPort, '/healthz'), [200, 'ok'])
    assert.equal((await get(healthzPort, '/metrics'))[0], 404)
    assert.equal((await get(healthzPort, '/pods'))[0], 404)
    assert.deepEqual(await get(readOnlyPort, '/metrics'), [200, 'up 1\n'])
    const [status, body] = await get(readOnlyPort, '/pods')
    assert.equal(status, 200)
    assert.deepEqual(
      (JSON.parse(body) as { items: { metadata: { name: string }; status: { phase: string } }[] }).items.map((item) => [
        item.metadata.name,
        item.status.phase,
      ]),
      [['web', 'Running']],
    )
    problem = 'no look at the runtime was tried'
    assert.equal((await get(healthzPort, '/healthz'))[0], 500)
    servers.leave()
    await servers.running
  })

  test('fails when the read-only port is taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo
    try {
      const { running } = await run({ healthzPort: 0, readOnlyPort: port })
      await assert.rejects(running, (error: Error) => /Cannot serve read-only/.test((error.cause as Error).message))
    } finally {
      taken.close()
    }
  })
})
