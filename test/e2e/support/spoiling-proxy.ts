/**
 * Between an agent and its API, on loopback: spoils every other request, in one way after the other. FOLDER has the kubeconfig file of the agent;
 * in front of the API with the certificate that fixtures/self-signed.ts has.
 */
import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Agent, createServer, request } from 'node:https'
import process from 'node:process'
import { selfSigned } from '../../fixtures/self-signed.ts'

const [kubeconfig = '', port = ''] = process.argv.slice(2)
const HANG_MS = 2000

type Fault = (incoming: IncomingMessage, response: ServerResponse) => void

const status = (code: number, reason: string, headers: Record<string, string> = {}): Fault => {
  const body = JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message: 'spoiled' })
  return (_, response) => void response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(body)
}
const text =
  (body: string): Fault =>
  (_, response) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(body)

const faults: readonly Fault[] = [
  status(429, 'TooManyRequests', { 'retry-after': '1' }),
  status(500, 'InternalError'),
  text('<html>a page of somebody else</html>'),
  // The server handles it, but its answer is lost.
  (incoming, response) => forward(incoming, () => response.destroy()),
  status(503, 'ServiceUnavailable'),
  text('{"type":"MODIFIED","object":'),
  (_, response) => setTimeout(() => response.destroy(), HANG_MS),
  text('{"type":"ELF","object":{}}\n'),
]

const configText = readFileSync(kubeconfig, 'utf8')
const decode = (name: string) => Buffer.from(new RegExp(`${name}: (\\S+)`).exec(configText)?.[1] ?? '', 'base64')
const agent = new Agent({
  cert: decode('client-certificate-data'),
  key: decode('client-key-data'),
  ca: decode('certificate-authority-data'),
  keepAlive: true,
})

let count = 0
createServer({ cert: selfSigned.cert, key: selfSigned.key }, (incoming, response) => {
  const fault = count % 2 === 0 ? pass : (faults[((count - 1) / 2) % faults.length] ?? pass)
  count += 1
  incoming.on('error', () => {})
  response.on('error', () => {})
  fault(incoming, response)
}).listen(Number(port), '127.0.0.1', () => console.log('ready'))

function pass(incoming: IncomingMessage, response: ServerResponse): void {
  forward(incoming, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(response)
    response.once('close', () => answer.destroy())
  })
}

function forward(incoming: IncomingMessage, onAnswer: (answer: IncomingMessage) => void): void {
  const { method = 'GET', url: path = '/', headers } = incoming
  const sent = request({ host: '127.0.0.1', port: 6443, method, path, headers, agent }, onAnswer)
  sent.on('error', () => incoming.destroy())
  incoming.pipe(sent)
}
