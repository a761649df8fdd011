import { setImmediate } from 'node:timers/promises'
import type { TestContext } from 'node:test'
import type { Clock } from '../../../src/base/async/clock.ts'
import { TaskGroup } from '../../../src/base/async/task-group.ts'
import { createKubeClient } from '../../../src/protocols/kube-api/create-kube-client.ts'
import type { KubeClientDeps } from '../../../src/protocols/kube-api/create-kube-client.ts'
import { hintAnswers } from '../../../src/protocols/kube-api/list-watch/api-return.ts'
import type { ApiReturn } from '../../../src/protocols/kube-api/list-watch/api-return.ts'
import { createTransport } from '../../../src/protocols/kube-api/transport/create-transport.ts'
import type { TransportDeps } from '../../../src/protocols/kube-api/transport/create-transport.ts'
import { silentLogger } from '../../../src/base/telemetry/silent-logger.ts'
import { selfSigned } from '../../fixtures/self-signed.ts'

export interface TestClientOptions
  extends Partial<Omit<TransportDeps, 'server' | 'clock'>>, Pick<Partial<KubeClientDeps>, 'requestTimeoutMs'> {
  readonly port: number
  readonly scheme?: string
  readonly clock: Clock
  /** Hears of each good answer. */
  readonly apiReturn?: ApiReturn
}

/** A client of a server on loopback, until the test ends. */
export function createTestClient(
  t: TestContext,
  { port, scheme = 'https', requestTimeoutMs, apiReturn, ...options }: TestClientOptions,
) {
  const { clock } = options
  const over = new AbortController()
  const tasks = new TaskGroup(over.signal)
  t.after(async () => {
    over.abort(new Error('The test ends'))
    await tasks.join()
  })
  const transport = createTransport({
    server: new URL(`${scheme}://127.0.0.1:${port}`),
    serverName: 'nobody.test',
    readTrust: async () => ({ kind: 'authorities', pem: selfSigned.cert }),
    proxy: undefined,
    credentials: { current: async () => ({ certificate: undefined, headers: {} }), onUnauthorized: async () => false },
    http2: true,
    tasks,
    log: silentLogger,
    ...options,
  })
  const attempts: string[] = []
  const sizes: [method: string, requestBytes: number, responseBytes: number][] = []
  const client = createKubeClient({
    transport: apiReturn === undefined ? transport : hintAnswers(transport, apiReturn),
    qps: -1,
    burst: 0,
    userAgent: 'kubelet/test',
    metrics: {
      request: ({ method, code, isRepeat }) => attempts.push(`${method} ${code}${isRepeat ? ' again' : ''}`),
      waited() {},
      sized: ({ method, requestBytes, responseBytes }) => sizes.push([method, requestBytes, responseBytes]),
    },
    clock,
    random: () => 0.5,
    log: silentLogger,
    ...(requestTimeoutMs !== undefined && { requestTimeoutMs }),
  })
  return { client, transport, attempts, sizes, tasks }
}

/** Waits for something that happens on real sockets, at most as long as the test may take. */
export async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await setImmediate()
}
