import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { systemClock } from '../../base/async/clock.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { connectRuntime } from './connect-runtime.ts'

const { signal } = new AbortController()

/** A socket of a runtime, whose connections the test answers; and what a client of it is made with. */
async function serve(t: TestContext, name: string, onConnection: (socket: Socket) => void) {
  const folder = await mkdtemp(join(tmpdir(), 'connect-runtime-'))
  t.after(() => rm(folder, { recursive: true }))
  const server = createServer((socket) => onConnection(socket.on('error', () => {}))).listen(join(folder, name))
  t.after(() => void server.close())
  await once(server, 'listening')
  return {
    runtimeEndpoint: `unix://${folder}/${name}`,
    requestTimeoutMs: 10_000,
    pauseImages: [],
    logLimits: { maxSizeBytes: -1, maxFiles: 1 },
    clock: systemClock,
    log: silentLogger,
  }
}

test('connectRuntime() refuses flags of Docker for a CRI runtime, with what to do instead', async (t) => {
  // As a gRPC server does with a request of HTTP/1.1.
  const options = await serve(t, 'cri.sock', (socket) => void socket.destroy())
  const connect = (dockerFlags: readonly string[]) => connectRuntime({ ...options, dockerFlags }, signal)
  const client = await connect([])
  client.close()
  await assert.rejects(
    connect(['network-plugin', 'pod-infra-container-image']),
    /^Error: --network-plugin was removed in Kubernetes 1\.24: set the network up in the container runtime's CNI configuration; --pod-infra-container-image was removed in Kubernetes 1\.35: set the sandbox image .* These flags are for Docker, which does not answer at "unix:/,
  )
})

test('connectRuntime() waits for a Docker that takes connections and does not answer yet', async (t) => {
  let connections = 0
  const options = await serve(t, 'started-by-systemd.sock', (socket) => {
    connections += 1
    // Held back by systemd at first, as it does while Docker starts.
    if (connections > 1) socket.end('HTTP/1.1 200 OK\r\nApi-Version: 1.41\r\nContent-Length: 2\r\n\r\nOK')
  })
  // A flag for Docker alone: a CRI runtime would be refused.
  const client = await connectRuntime({ ...options, dockerFlags: ['docker-endpoint'] }, signal)
  client.close()
  assert.ok(connections >= 2)
})
