import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, request as startRequest } from 'node:http'
import type { IncomingMessage, RequestListener, RequestOptions } from 'node:http'
import { request as startSecureRequest } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { text } from 'node:stream/consumers'
import { systemClock } from '../../../src/base/async/clock.ts'
import { silentLogger } from '../../../src/base/telemetry/silent-logger.ts'
import { ApiObjects } from '../../../src/controllers/engine/api-objects.ts'
import { LiveObjects } from '../../../src/controllers/engine/live-objects.ts'
import { createIngressController } from '../../../src/controllers/network/ingress/ingress-controller.ts'
import type { IngressOptions } from '../../../src/controllers/network/ingress/ingress-controller.ts'
import type { IngressPorts, OpenedPorts } from '../../../src/controllers/network/ingress/ingress-ports.ts'
import type { EndpointSlice, Ingress, IngressClass } from '../../../src/model/generated/api-groups.ts'
import type { Node, Secret, Service } from '../../../src/model/generated/core-v1.ts'
import type { EventInput } from '../../../src/protocols/kube-api/events/event-factory.ts'
import type { KubeObject } from '../../../src/protocols/kube-api/list-watch/kube-object.ts'
import { makeTemporaryFolder } from '../../fixtures/make-temporary-folder.ts'
import { call } from '../api-server/api-client.ts'
import { createTestApi } from '../api-server/create-test-api.ts'
import { FakeKubeClient } from '../fake-kube-client.ts'

const GROUP = '/apis/networking.k8s.io/v1'
const NETWORKING = 'networking.k8s.io/v1'

export interface Reply {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** What a request goes to: a host by its name, on one of the ports. */
export interface Asked extends Pick<RequestOptions, 'method' | 'agent'> {
  readonly headers?: Readonly<Record<string, string>>
  readonly isSecure?: boolean
  readonly body?: string
}

/** The real API and the real ingress with real connections; only the slices come from the test, since the API takes none of loopback. */
export async function createIngressWorld(
  t: TestContext,
  options: Partial<Pick<IngressOptions, 'ports' | 'sharedPort'>> = {},
) {
  const server = await createTestApi({ folder: makeTemporaryFolder() })
  const { api } = server
  const over = new AbortController()
  const client = new FakeKubeClient(api)
  const deps = { client, clock: systemClock, random: Math.random, log: silentLogger }
  const running: Promise<unknown>[] = []
  const run = (loop: Promise<unknown>) =>
    running.push(
      loop.catch((error: unknown) => {
        if (!over.signal.aborted) throw error
      }),
    )
  const open = <T extends KubeObject>(apiVersion: string, kind: string, plural: string) => {
    const objects = new ApiObjects<T>(deps, { apiVersion, kind, plural })
    run(objects.run(over.signal))
    return objects
  }
  const create = async (path: string, body: object) => {
    const answer = await call(api, 'POST', path, { body })
    if (answer.status >= 400) throw new Error(answer.body.message)
    return answer.body
  }
  await create('/api/v1/nodes', { metadata: { name: 'node-1' } })
  const addresses = [{ type: 'InternalIP', address: '192.0.2.1' }]
  await call(api, 'PATCH:merge', '/api/v1/nodes/node-1/status', { body: { status: { addresses } } })
  const metadata = { name: 'own', annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' } }
  await create(`${GROUP}/ingressclasses`, { metadata, spec: { controller: 'deckhand.local/ingress' } })
  const slices = { known: new LiveObjects<EndpointSlice>(), untilSynced: () => Promise.resolve() }
  const events: EventInput[] = []
  const results: OpenedPorts[] = []
  const ready = Promise.withResolvers<void>()
  const onPorts = (result: OpenedPorts) => {
    results.push(result)
    ready.resolve()
  }
  const controller = createIngressController(
    {
      ...deps,
      nodeName: 'node-1',
      record: (event) => events.push(event),
      services: open<Service>('v1', 'Service', 'services'),
      nodes: open<Node>('v1', 'Node', 'nodes'),
      ingresses: open<Ingress>(NETWORKING, 'Ingress', 'ingresses'),
      classes: open<IngressClass>(NETWORKING, 'IngressClass', 'ingressclasses'),
      secrets: open<Secret>('v1', 'Secret', 'secrets'),
      slices,
    },
    { ports: { http: 0, https: 0 }, ...options, onPorts },
  )
  run(controller.run(over.signal))
  t.after(async () => {
    over.abort(new Error('over'))
    await Promise.all(running)
    await server[Symbol.asyncDispose]()
  })
  await ready.promise
  let version = 1
  const world = {
    api,
    client,
    events,
    /** What came of the ports, each time that it changed. */
    results,
    get ports(): IngressPorts {
      return results.at(-1)?.open ?? { http: undefined, https: undefined }
    },
    create: (plural: string, object: object) =>
      create(`${plural.startsWith('ingress') ? GROUP : '/api/v1'}/namespaces/default/${plural}`, object),
    async patch(plural: string, name: string, body: object) {
      const root = plural.startsWith('ingress') ? GROUP : '/api/v1'
      return (await call(api, 'PATCH:merge', `${root}/namespaces/default/${plural}/${name}`, { body })).body
    },
    async get(name: string) {
      return (await call(api, 'GET', `${GROUP}/namespaces/default/ingresses/${name}`)).body
    },
    /** A service whose endpoints are these ports of loopback, from now on. */
    async serve(name: string, ...endpoints: readonly number[]) {
      if ((await call(api, 'GET', `/api/v1/namespaces/default/services/${name}`)).status === 404)
        await world.create('services', { metadata: { name }, spec: { ports: [{ port: 80, name: 'http' }] } })
      // A slice has one port for all its endpoints.
      for (const old of slices.known.all())
        if (old.metadata.labels?.['kubernetes.io/service-name'] === name) slices.known.lost(old)
      for (const port of endpoints)
        slices.known.wrote({
          metadata: {
            name: `${name}-${port}`,
            namespace: 'default',
            uid: randomUUID(),
            resourceVersion: String(version++),
            labels: { 'kubernetes.io/service-name': name },
          },
          addressType: 'IPv4',
          ports: [{ name: 'http', port, protocol: 'TCP' }],
          endpoints: [{ addresses: ['127.0.0.1'], conditions: { ready: true } }],
        })
    },
    /** Starts a request, as a client would. */
    start(url: string, { isSecure = false, headers = {}, method = 'GET', agent = false }: Asked = {}) {
      const slash = url.indexOf('/')
      const host = url.slice(0, slash)
      const port = isSecure ? world.ports.https : world.ports.http
      const options = { host: '127.0.0.1', port, path: url.slice(slash), method, agent, headers: { host, ...headers } }
      return isSecure
        ? startSecureRequest({ ...options, servername: host, rejectUnauthorized: false })
        : startRequest(options)
    },
    async ask(url: string, asked: Asked = {}): Promise<Reply> {
      const outgoing = world.start(url, asked)
      outgoing.end(asked.body)
      const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
      return { status: response.statusCode ?? 0, headers: response.headers, body: await text(response) }
    },
    /** Asks until the answer is right: routes follow objects after a moment. */
    async until(url: string, holds: (reply: Reply) => boolean, asked: Asked = {}): Promise<Reply> {
      const end = performance.now() + 10_000
      for (;;) {
        const reply = await world.ask(url, asked)
        if (holds(reply)) return reply
        if (performance.now() > end) throw new Error(`${url}: ${JSON.stringify(reply)}`)
        await sleep(10)
      }
    },
    async untilEvent(reason: string, matching: RegExp): Promise<EventInput> {
      const end = performance.now() + 10_000
      for (;;) {
        const found = events.find((event) => event.reason === reason && matching.test(event.message))
        if (found !== undefined) return found
        if (performance.now() > end) throw new Error(`${reason}: ${JSON.stringify(events)}`)
        await sleep(10)
      }
    },
  }
  return world
}

export type IngressWorld = Awaited<ReturnType<typeof createIngressWorld>>

/** A pod, as far as the ingress sees it; returns its port. */
export async function servePod(t: TestContext, answer: RequestListener): Promise<number> {
  const server = createServer(answer)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return (server.address() as AddressInfo).port
}

/** An Ingress with one host and one path. */
export function ingressFor(name: string, host: string, service: string, more: object = {}) {
  const backend = { service: { name: service, port: { name: 'http' } } }
  const http = { paths: [{ path: '/', pathType: 'Prefix', backend }] }
  return { metadata: { name }, spec: { rules: [{ host, http }], ...more } }
}
