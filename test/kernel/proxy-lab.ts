import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../src/base/async/clock.ts'
import { TaskGroup } from '../../src/base/async/task-group.ts'
import { silentLogger } from '../../src/base/telemetry/silent-logger.ts'
import { LiveObjects } from '../../src/controllers/engine/live-objects.ts'
import { createServiceProxy } from '../../src/controllers/network/service-proxy/service-proxy.ts'
import type { EndpointSlice } from '../../src/model/generated/api-groups.ts'
import type { Service, ServiceSpec } from '../../src/model/generated/core-v1.ts'
import { Conntrack } from '../../src/system/network/conntrack.ts'
import { Iptables } from '../../src/system/network/iptables.ts'
import { Nft } from '../../src/system/network/nft.ts'
import type { createNetworkLab } from './network-lab.ts'

export const TABLE = 'deckhand-test'
export const CHAIN_PREFIX = 'DH-test'
const NETWORK = {
  serviceRanges: ['10.124.0.0/16', 'fd00:124::/112'],
  podRanges: ['10.123.0.0/16', 'fd00:123::/64'],
}

/** The proxy on the node of a lab, with services that a test writes. */
export async function createProxy(
  t: TestContext,
  lab: Awaited<ReturnType<typeof createNetworkLab>>,
  { seesBridge = true, program = 'nft' }: { seesBridge?: boolean; program?: 'nft' | 'iptables' } = {},
) {
  const services = new LiveObjects<Service>()
  const slices = new LiveObjects<EndpointSlice>()
  let version = 0
  const put = <T>(objects: LiveObjects<T & object>, name: string, object: object) => {
    version++
    const labels = { 'kubernetes.io/service-name': name }
    const metadata = {
      name,
      namespace: 'default',
      uid: name,
      resourceVersion: String(version).padStart(6, '0'),
      labels,
    }
    objects.wrote({ metadata, ...object } as unknown as T & object)
  }
  const nft = new Nft(systemClock, lab.node.enter)
  const until = async (what: string, holds: () => Promise<boolean>) => {
    for (const end = performance.now() + 10_000; !(await holds()); await sleep(30))
      if (performance.now() > end) throw new Error(`Not in time: ${what}`)
  }
  const place =
    program === 'nft'
      ? { table: TABLE, rules: nft }
      : { chainPrefix: CHAIN_PREFIX, iptables: new Iptables(systemClock, lab.node.enter) }
  const listing = async () =>
    program === 'nft'
      ? await lab.node.run('nft', 'list', 'table', 'inet', TABLE).catch(() => '')
      : `${await lab.node.run('iptables-save')}${await lab.node.run('ip6tables-save')}`
  let stop = new AbortController()
  const start = (isSynced = true) => {
    stop = new AbortController()
    const untilSynced = (signal: AbortSignal) =>
      isSynced
        ? Promise.resolve()
        : new Promise<void>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    const followed = (known: LiveObjects<never>) => ({ known, untilSynced })
    const proxy = createServiceProxy(
      {
        clock: systemClock,
        log: silentLogger,
        services: followed(services as never) as never,
        slices: followed(slices as never) as never,
      },
      {
        nodeName: 'n1',
        network: { ...NETWORK, seesBridge },
        place,
        ensureBridgeIsSeen: () => false,
        flows: new Conntrack(systemClock, lab.node.enter),
      },
    )
    const group = new TaskGroup(stop.signal)
    group.run('proxy', (signal) => proxy.run(signal))
    return async () => {
      stop.abort(new Error('over'))
      await group[Symbol.asyncDispose]()
    }
  }
  let end = start()
  t.after(() => end())
  return {
    nft,
    until,
    listing,
    service: (name: string, spec: ServiceSpec, status: object = {}) =>
      put(services, name, {
        spec: {
          type: 'ClusterIP',
          ipFamilies: ['IPv4'],
          clusterIPs: [spec.clusterIP ?? ''],
          ports: [{ port: 80, protocol: 'TCP' }],
          ...spec,
        },
        status,
      }),
    slice: (
      name: string,
      addresses: readonly string[],
      fields: { port?: number; protocol?: string; nodeName?: string | undefined; addressType?: string } = {},
    ) => {
      const { port = 8080, protocol = 'TCP', addressType = 'IPv4' } = fields
      const nodeName = 'nodeName' in fields ? fields.nodeName : 'n1'
      put(slices, name, {
        addressType,
        ports: [{ name: '', port, protocol }],
        endpoints: addresses.map((address) => ({ addresses: [address], nodeName, conditions: { ready: true } })),
      })
    },
    /** With an API that has not answered yet, or as usual. */
    async restart(isSynced = true) {
      await end()
      end = start(isSynced)
    },
  }
}
