import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { TestContext } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { systemClock } from '../../../src/base/async/clock.ts'
import { createKeys, toKeyPem } from '../../../src/protocols/x509/certificate-files.ts'
import { issueCertificate } from '../../../src/protocols/x509/issue-certificate.ts'
import { openPki } from '../../../src/api-server/pki/open-pki.ts'
import { silentLogger } from '../../../src/base/telemetry/silent-logger.ts'

/** What a kubelet was asked. */
interface AskedKubelet {
  readonly method: string
  readonly path: string
  readonly user: string
  readonly headers: IncomingMessage['headers']
}

interface FakeKubelet {
  readonly port: number
  readonly asked: AskedKubelet[]
}

/**
 * A kubelet that knows no pods: answers with what the test says, and echoes every byte of an upgraded connection. Its certificate is
 * signed by the authority of the API whose folder is given.
 */
export async function startFakeKubelet(
  t: Pick<TestContext, 'after'>,
  folder: string,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void = echoUpgrade,
): Promise<FakeKubelet> {
  const pki = await openPki(`${folder}/pki`, { clock: systemClock, log: silentLogger })
  const keys = createKeys()
  const content = { commonName: 'system:node:node-1', organizations: ['system:nodes'], names: ['127.0.0.1'] }
  const usages = ['server'] as const
  const lifetime = { publicKey: keys.publicKey, usages, lifetimeMs: 3_600_000 }
  const cert = await issueCertificate(pki.authority, { ...content, ...lifetime }, systemClock.now())
  const asked: AskedKubelet[] = []
  const note = (request: IncomingMessage) => {
    const user = String((request.socket as TLSSocket).getPeerCertificate().subject?.CN)
    asked.push({ method: request.method ?? '', path: request.url ?? '', user, headers: request.headers })
  }
  const server = createServer(
    { cert, key: toKeyPem(keys.privateKey), ca: pki.authority.pem, requestCert: true },
    (request, response) => {
      note(request)
      answer(request, response)
    },
  )
  server.on('upgrade', (request, socket, head) => {
    note(request)
    socket.on('error', () => {})
    upgrade(request, socket, head)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, asked }
}

function echoUpgrade(request: IncomingMessage, socket: Duplex): void {
  socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${request.headers.upgrade}\r\n\r\n`)
  socket.pipe(socket)
}
