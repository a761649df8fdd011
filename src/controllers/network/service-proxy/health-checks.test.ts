import assert from 'node:assert/strict'
import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { lifeOf } from '../../../../test/fixtures/half-open-clients.ts'
import { silentLogger } from '../../../base/telemetry/silent-logger.ts'
import type { EndpointSlice } from '../../../model/generated/api-groups.ts'
import type { Service, ServiceSpec } from '../../../model/generated/core-v1.ts'
import type { Live } from '../../engine/live-object.ts'
import { computeHealthChecks } from './compute-health-checks.ts'
import { HealthCheckServers } from './health-check-servers.ts'

const meta = (name: string, labels = {}) => ({ namespace: 'shop', name, uid: name, resourceVersion: '1', labels })
const local: ServiceSpec = { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 30_000 }

function countOf(
  spec: ServiceSpec,
  ...endpoints: readonly (readonly [address: string, node: string, ready?: boolean])[]
) {
  const services: readonly Live<Service>[] = [{ metadata: meta('web'), spec }]
  const slice = (name: string): Live<EndpointSlice> => ({
    metadata: meta(name, { 'kubernetes.io/service-name': 'web' }),
    addressType: 'IPv4',
    endpoints: endpoints.map(([address, nodeName, ready]) => ({
      addresses: [address],
      nodeName,
      conditions: { ready },
    })),
  })
  const input = { services, slices: [slice('web-1'), slice('web-2')], nodeName: 'n1' }
  return computeHealthChecks(input).get(30_000)?.localEndpoints
}

describe('computeHealthChecks() counts ready endpoints of the node', () => {
  test('each of them once', () => assert.equal(countOf(local, ['10.0.0.1', 'n1'], ['10.0.0.2', 'n1', true]), 2))
  test('not those elsewhere', () => assert.equal(countOf(local, ['10.0.0.1', 'n2']), 0))
  test('not those that are not ready', () => assert.equal(countOf(local, ['10.0.0.1', 'n1', false]), 0))
  test('only for services that stay on the node', () =>
    assert.equal(countOf({ ...local, externalTrafficPolicy: 'Cluster' }, ['10.0.0.1', 'n1']), undefined))
})

async function findFreePort(): Promise<number> {
  const probe = createServer().listen(0)
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}

test('HealthCheckServers answer as long as the service has the port', async (t) => {
  const port = await findFreePort()
  const servers = new HealthCheckServers(silentLogger)
  t.after(() => servers.close())
  const ask = async () => {
    const response = await fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'close' } })
    return [response.status, response.headers.get('x-load-balancing-endpoint-weight'), await response.json()]
  }
  const check = { namespace: 'shop', name: 'web' }
  const service = { namespace: 'shop', name: 'web' }
  servers.serve(new Map([[port, { ...check, localEndpoints: 2 }]]))
  assert.deepEqual(await ask(), [200, '2', { service, localEndpoints: 2, serviceProxyHealthy: true }])
  servers.serve(new Map([[port, { ...check, localEndpoints: 0 }]]))
  assert.deepEqual(await ask(), [503, '0', { service, localEndpoints: 0, serviceProxyHealthy: true }])
  servers.serve(new Map())
  await assert.rejects(ask(), /fetch failed/)
})

test('HealthCheckServers answer balancers while other clients begin a request and do not go on', async (t) => {
  const port = await findFreePort()
  const servers = new HealthCheckServers(silentLogger)
  t.after(() => servers.close())
  servers.serve(new Map([[port, { namespace: 'shop', name: 'web', localEndpoints: 1 }]]))
  const lives: Promise<number>[] = []
  for (let index = 0; index < 120; index++) {
    const socket = connect({ host: '127.0.0.1', port, localAddress: `127.0.0.${2 + Math.floor(index / 30)}` })
    t.after(() => socket.destroy())
    socket.write('GET / HTTP/1.1\r\nHost: n\r\nX-Half: ')
    lives.push(lifeOf(socket))
    await Promise.race([once(socket, 'connect'), once(socket, 'close')])
  }
  const response = await fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'close' } })
  assert.equal(response.status, 200)
  // The last ones live on, until their time is over.
  assert.ok(Math.max(...(await Promise.all(lives))) < 9000)
})
