import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { encodeWebSocketHead } from '../../src/protocols/streams/websocket/websocket-connection.ts'
import { WebSocketDecoder } from '../../src/protocols/streams/websocket/websocket-decoder.ts'
import { BUSYBOX_IMAGE } from '../../src/standalone/images/node-images.ts'
import { NODE_NAME } from '../e2e/lab/lab-agent.ts'
import type { LabAgent } from '../e2e/lab/lab-agent.ts'
import { computePercentile } from './compute-statistics.ts'
import type { Samples } from './rows.ts'
import { isReady, startBenchAgent } from './scenario.ts'
import type { Bench, Scenario } from './scenario.ts'
import { cpuSeconds } from './usage.ts'
import { now, waitFor } from './wait.ts'
import { createWitness, readProbeGap, waitForWitness } from './witness.ts'

const PODS = 10
const EXECS = 50
const FOLLOWERS = 200
const DEADLINE_MS = 120_000
const SETTLE_MS = 2000
const WINDOW_MS = 30_000
const ASK_MS = 500
const P99 = 99

/** Many people at once: processes that are spoken to, and logs that are followed. */
export const streamsScenario: Scenario = {
  name: 'streams',
  rows: ['streams-open', 'streams-exec', 'streams-follow', 'streams-cpu', 'streams-probe-gap'],
  async measure(bench: Bench): Promise<Samples> {
    const { lab, signal } = bench
    const agent = await startBenchAgent(bench)
    const podLogs = String(agent.config['podLogsDir'])
    await lab.manifests.write('witness', createWitness())
    for (let index = 0; index < PODS; index += 1) await lab.manifests.write(`talker-${index}`, createTalker(index))
    const areReady = async () => (await agent.pods()).filter(isReady).length > PODS
    await waitFor('the pods', areReady, { pollMs: 200, deadlineMs: DEADLINE_MS, signal })
    await waitForWitness(podLogs, signal)
    using clients = new DisposableStack()
    const [execTimes, followTimes]: [number[], number[]] = [[], []]
    const from = now()
    const opening = [
      ...Array.from({ length: EXECS }, (_, index) => openExec(bench, { agent, index, clients, times: execTimes })),
      ...Array.from({ length: FOLLOWERS }, (_, index) => follow(bench, { agent, index, clients, times: followTimes })),
    ]
    const asking = await Promise.all(opening)
    const open = (now() - from) / 1000
    await sleep(SETTLE_MS, undefined, { signal })
    execTimes.length = 0
    followTimes.length = 0
    const [cpu, began] = [await cpuSeconds(agent.pid), now()]
    const timer = setInterval(() => asking.forEach((ask) => ask()), ASK_MS)
    clients.defer(() => clearInterval(timer))
    await sleep(WINDOW_MS, undefined, { signal })
    const to = now()
    if (execTimes.length === 0 || followTimes.length === 0) throw new Error('Cannot measure streams: nothing came')
    return {
      'streams-open': [open],
      'streams-exec': [computePercentile(execTimes, P99) / 1000],
      'streams-follow': [computePercentile(followTimes, P99) / 1000],
      'streams-cpu': [(((await cpuSeconds(agent.pid)) - cpu) / ((to - began) / 1000)) * 100],
      'streams-probe-gap': [await readProbeGap(podLogs, { from, to })],
    }
  },
}

/** Writes the time five times a second. */
function createTalker(index: number): object {
  const command = ['sh', '-c', "trap 'exit 0' TERM; while :; do echo at $EPOCHREALTIME; sleep 0.2; done"]
  const main = { name: 'main', image: BUSYBOX_IMAGE, imagePullPolicy: 'Never', command }
  const spec = { automountServiceAccountToken: false, enableServiceLinks: false, containers: [main] }
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: `talker-${index}`, namespace: 'default' }, spec }
}

interface Client {
  readonly agent: LabAgent
  readonly index: number
  readonly clients: DisposableStack
  /** What each line took, in milliseconds. */
  readonly times: number[]
}

const podOf = (index: number) => `talker-${index % PODS}-${NODE_NAME}`

async function openConnection({ lab, signal }: Bench, { agent, clients }: Client): Promise<Socket> {
  const port = Number(agent.config['port'])
  const socket = connectTls({ socket: lab.network.connect('127.0.0.1', port), rejectUnauthorized: false })
  socket.on('error', () => {})
  clients.defer(() => socket.destroy())
  await once(socket, 'secureConnect', { signal })
  return socket
}

/** Resolves when its first lines have come. */
async function follow(bench: Bench, client: Client): Promise<() => void> {
  const socket = await openConnection(bench, client)
  const path = `/containerLogs/default/${podOf(client.index)}/main?follow=true&tailLines=1`
  socket.write(`GET ${path} HTTP/1.1\r\nHost: node\r\n\r\n`)
  const { promise, resolve } = Promise.withResolvers<() => void>()
  let rest = ''
  socket.on('data', (chunk: Buffer) => {
    const text = rest + chunk.toString('latin1')
    const lines = text.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const seconds = /^at ([\d.]+)$/.exec(line)?.[1]
      if (seconds === undefined) continue
      client.times.push(now() - Number(seconds) * 1000)
      resolve(() => {})
    }
  })
  return await promise
}

/** A process that repeats its input. Resolves, once it has done so, to a function that sends it a line. */
async function openExec(bench: Bench, client: Client): Promise<() => void> {
  const socket = await openConnection(bench, client)
  const path = `/exec/default/${podOf(client.index)}/main?command=cat&input=1&output=1`
  const headers = [
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
    'Sec-WebSocket-Protocol: v5.channel.k8s.io, v4.channel.k8s.io',
  ]
  socket.write(`GET ${path} HTTP/1.1\r\nHost: node\r\n${headers.join('\r\n')}\r\n\r\n`)
  const [answer] = (await once(socket, 'data')) as [Buffer]
  const end = answer.indexOf('\r\n\r\n')
  if (!answer.toString('latin1').startsWith('HTTP/1.1 101'))
    throw new Error(`Cannot exec: ${answer.toString('utf8').slice(0, 200)}`)
  const decoder = new WebSocketDecoder({ masked: false })
  const { promise, resolve } = Promise.withResolvers<() => void>()
  let sentAt: number | undefined
  const ask = () => {
    // One that has not answered yet is late: it counts when it does.
    if (sentAt !== undefined) return
    sentAt = now()
    // A mask of zeros leaves the content as it is.
    socket.write(Buffer.concat([encodeWebSocketHead('binary', 2, new Uint8Array(4)), Buffer.from('\0\n')]))
  }
  const read = (bytes: Buffer) => {
    for (const event of decoder.decode(bytes)) {
      if (event.kind !== 'data' || event.bytes[0] !== 1 || event.bytes.length < 2) continue
      if (sentAt !== undefined) client.times.push(now() - sentAt)
      sentAt = undefined
      resolve(ask)
    }
  }
  socket.on('data', read)
  if (answer.length > end + 4) read(answer.subarray(end + 4))
  ask()
  return await promise
}
