import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createObjectReader } from '../../../src/api-server/kinds/object-reader.ts'
import type { KubeletTls } from '../../../src/api-server/backends/backend.ts'
import { createBackends } from '../../../src/api-server/backends/create-backends.ts'
import { systemClock } from '../../../src/base/async/clock.ts'
import type { Clock } from '../../../src/base/async/clock.ts'
import { createBaseObjects } from '../../../src/api-server/lifecycle/base-objects.ts'
import { SEALED_RESOURCES } from '../../../src/api-server/kinds/all-resources.ts'
import type { RequestUser } from '../../../src/api-server/kinds/resource.ts'
import { ResourceMetrics } from '../../../src/api-server/resource-metrics/resource-metrics.ts'
import { parseServiceRanges } from '../../../src/api-server/kinds/rules/services/service-range.ts'
import { changeInfo } from '../../../src/api-server/rest/api-context.ts'
import type { ApiDeps } from '../../../src/api-server/rest/api-context.ts'
import { createResourceTable } from '../../../src/api-server/custom-resources/resource-table.ts'
import { createApi } from '../../../src/api-server/rest/create-api.ts'
import type { Api } from '../../../src/api-server/rest/create-api.ts'
import { serveRequest } from '../../../src/api-server/rest/serve-http.ts'
import { openApiStore } from '../../../src/api-server/store/open-api-store.ts'
import type { ApiStore, StoreLimits } from '../../../src/api-server/store/api-store.ts'
import type { Logger } from '../../../src/base/telemetry/logger.ts'
import { silentLogger } from '../../../src/base/telemetry/silent-logger.ts'

export const admin: RequestUser = { name: 'admin', groups: ['system:masters'] }

export interface TestApi extends AsyncDisposable {
  readonly api: Api
  readonly store: ApiStore
  /** As in "http://127.0.0.1:1234"; only when it was asked for. */
  readonly url: string
}

export interface TestApiOptions {
  readonly folder: string
  readonly clock?: Clock
  readonly log?: Logger
  readonly limits?: Partial<StoreLimits>
  readonly port?: number
  /** Pods are not bound to the node at once. */
  readonly hasScheduler?: boolean
  readonly kubeletTls?: KubeletTls
  /** Who may write what; every user everything when absent. */
  readonly admit?: ApiDeps['admit']
  readonly admitNew?: ApiDeps['admitNew']
  /** Resources that nothing acts on, each with the reason. */
  readonly switchedOff?: ReadonlyMap<string, string>
  /** As in "10.96.0.0/12,fd00::/112". */
  readonly serviceRange?: string
}

/** The whole API over a store in a folder, on loopback. */
export async function createTestApi(options: TestApiOptions): Promise<TestApi> {
  const { folder, clock = systemClock, log = silentLogger, limits = {} } = options
  const store = await openApiStore({ folder, sealedResources: SEALED_RESOURCES, limits }, { clock, log })
  const objects = createObjectReader(store)
  // Connections take real time, whatever the clock of the test says.
  const backends = createBackends({
    objects,
    clock: systemClock,
    kubeletTls: () => options.kubeletTls ?? { ca: '', cert: '', key: '' },
  })
  const deps = {
    store,
    clock,
    log,
    nodeName: options.hasScheduler === true ? undefined : 'node-1',
    serviceRanges: parseServiceRanges(options.serviceRange ?? '10.96.0.0/12'),
    version: 'v1.36.4',
    newUid: randomUUID,
    random: Math.random,
    admit: options.admit ?? (() => {}),
    admitNew: options.admitNew ?? (() => Promise.resolve()),
    ...(options.switchedOff !== undefined && { switchedOff: options.switchedOff }),
    backends,
    metrics: new ResourceMetrics({ backends, clock }),
    resources: createResourceTable(store),
    authorize: () => ({ allowed: true, reason: '' }),
    reviewers: {
      reviewAccess: () => Promise.resolve({ allowed: true, reason: 'every user may' }),
      reviewRules: () => ({}),
      reviewToken: (token: string) => Promise.resolve({ authenticated: token === 'good', user: admin }),
    },
  }
  await createBaseObjects(store, changeInfo(deps, admin))
  const api = createApi(deps)
  const server = createServer((request, response) => void serveRequest(api, () => admin, request, response))
  server.listen(options.port ?? 0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    api,
    store,
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
      store[Symbol.dispose]()
    },
  }
}
