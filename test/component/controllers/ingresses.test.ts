import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:tls'
import { describe, test } from 'node:test'
import { selfSigned } from '../../fixtures/self-signed.ts'
import type { OpenedPorts } from '../../../src/controllers/network/ingress/ingress-ports.ts'
import { createWorkloadWorld } from './create-workload-world.ts'
import type { WorkloadWorld } from './create-workload-world.ts'

const backend = { service: { name: 'web', port: { number: 80 } } }
const address = { ip: '192.0.2.1', ports: [{ port: 80, protocol: 'TCP' }] }

async function createClass(world: WorkloadWorld): Promise<void> {
  await world.create('nodes', { metadata: { name: 'node-1' } })
  const metadata = { name: 'deckhand', annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' } }
  await world.create('ingressclasses', { metadata, spec: { controller: 'deckhand.local/ingress' } })
}

describe('Ingresses among the other controllers', () => {
  test('are served with the certificates of secrets of that type', async (t) => {
    const ready = Promise.withResolvers<OpenedPorts>()
    const ingress = { ports: { http: 0, https: 0 }, onPorts: ready.resolve }
    const world = await createWorkloadWorld(t, { parts: { ingress } })
    await createClass(world)
    const { open: ports } = await ready.promise
    const toData = (text: string) => Buffer.from(text).toString('base64')
    const data = { 'tls.crt': toData(selfSigned.cert), 'tls.key': toData(selfSigned.key) }
    await world.create('secrets', { metadata: { name: 'web' }, type: 'kubernetes.io/tls', data })
    const tls = [{ hosts: ['a.example'], secretName: 'web' }]
    await world.create('ingresses', { metadata: { name: 'web' }, spec: { defaultBackend: backend, tls } })
    await world.until(
      'its certificate',
      async () => {
        const socket = connect({ port: ports.https ?? 0, servername: 'a.example', rejectUnauthorized: false })
        await once(socket, 'secureConnect')
        const { subject } = socket.getPeerCertificate()
        socket.destroy()
        return subject.CN
      },
      (name) => name === 'nobody.test',
    )
    const answer = await fetch(`http://127.0.0.1:${ports.http}/`)
    assert.equal(answer.status, 503)
    await world.until(
      'an event',
      () => world.events('BadBackend'),
      ([message]) => message === 'the service web does not exist',
    )
  })

  test('lose their address, and learn why, on a node that does not serve them any more', async (t) => {
    const world = await createWorkloadWorld(t, { parts: { ingress: { refusal: 'there is no port' } } })
    await createClass(world)
    for (const [name, ingressClassName] of [
      ['own', 'deckhand'],
      ['other', 'nginx'],
    ] as const) {
      await world.create('ingresses', { metadata: { name }, spec: { defaultBackend: backend, ingressClassName } })
      await world.patch('ingresses', `${name}/status`, { status: { loadBalancer: { ingress: [address] } } })
    }
    await world.restart()
    const addressOf = async (name: string) =>
      (await world.get('ingresses', name)).status.loadBalancer.ingress as unknown
    await world.until(
      'no address',
      () => addressOf('own'),
      (found) => found === undefined,
    )
    assert.deepEqual(await addressOf('other'), [address])
    await world.until(
      'an event',
      () => world.events('NotServed'),
      (messages) => messages.length === 1 && messages[0] === 'The Ingress is not served: there is no port',
    )
  })
})
