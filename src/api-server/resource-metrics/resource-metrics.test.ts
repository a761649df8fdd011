import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { ResourceMetrics } from './resource-metrics.ts'

test('ResourceMetrics measures at the first question, also when a timer fires a moment early', async (t) => {
  let time = 1_000_000
  const server = createServer((_, response) => response.end(`node_cpu_usage_seconds_total ${time / 2000} ${time}\n`))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const clock = {
    now: () => time,
    monotonic: () => time,
    // As Node's do.
    sleep: (ms: number) => {
      time += ms - 1
      return Promise.resolve()
    },
  }
  const backend = {
    host: `127.0.0.1:${port}`,
    path: '/metrics/resource',
    connect: () => Promise.resolve(connect(port, '127.0.0.1')),
  }
  const metrics = new ResourceMetrics({ clock, backends: { kubelet: () => backend } })
  const meter = await metrics.measure('node-1', t.signal)
  assert.equal(meter.node()?.cpuNanoCores, 5e8)
})
