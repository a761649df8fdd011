/**
 * Two rounds of the collection of forgotten shims, at once, as an agent makes them minutes apart.
 * Usage: collect-shims.ts SOCKET_OF_CONTAINERD
 */
import process from 'node:process'
import { systemClock } from '../../../src/base/async/clock.ts'
import { silentLogger } from '../../../src/base/telemetry/silent-logger.ts'
import { collectShims } from '../../../src/pods/leftovers/run-shim-collection.ts'
import { createCriClient } from '../../../src/protocols/cri/cri-client.ts'
import { findShims } from '../../../src/system/processes/find-shims.ts'
import { signalProcess } from '../../../src/system/processes/process-identity.ts'

const socketPath = process.argv[2] ?? ''
const options = { clock: systemClock, log: silentLogger, requestTimeoutMs: 10_000 }
using calls = createCriClient({ ...options, runtimeEndpoint: `unix://${socketPath}` })
const deps = {
  ...options,
  calls,
  processes: {
    findShims: () => findShims({ socketPath, namespace: 'k8s.io' }),
    kill: (identity: Parameters<typeof signalProcess>[0]) => signalProcess(identity, 'SIGKILL'),
  },
}
const { signal } = new AbortController()
await collectShims(deps, await collectShims(deps, new Set(), signal), signal)
