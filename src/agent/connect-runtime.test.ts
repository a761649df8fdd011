import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemClock } from '../base/async/clock.ts'
import { silentLogger } from '../base/telemetry/silent-logger.ts'
import { connectRuntime } from './connect-runtime.ts'

test('connectRuntime() refuses flags of Docker for a CRI runtime, with what to do instead', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'connect-runtime-'))
  t.after(() => rm(folder, { recursive: true }))
  // As a gRPC server does with a request of HTTP/1.1.
  const server = createServer((socket) => socket.destroy()).listen(join(folder, 'cri.sock'))
  t.after(() => void server.close())
  await once(server, 'listening')
  const options = {
    runtimeEndpoint: `unix://${folder}/cri.sock`,
    requestTimeoutMs: 1000,
    pauseImages: [],
    logLimits: { maxSizeBytes: -1, maxFiles: 1 },
    clock: systemClock,
    log: silentLogger,
  }
  const connect = (dockerFlags: readonly string[]) =>
    connectRuntime({ ...options, dockerFlags }, new AbortController().signal)
  const client = await connect([])
  client.close()
  await assert.rejects(
    connect(['network-plugin', 'pod-infra-container-image']),
    /^Error: --network-plugin was removed in Kubernetes 1\.24: set the network up in the container runtime's CNI configuration; --pod-infra-container-image was removed in Kubernetes 1\.35: set the sandbox image .* These flags are for Docker, which does not answer at "unix:/,
  )
})
