import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createPod } from '../../../../test/builders/create-pod.ts'
import { FakeClock } from '../../../../test/fakes/fake-clock.ts'
import { KubeApiError, KubeUnreachableError } from '../kube-client.ts'
import type { KubeRequest } from '../kube-client.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import { createEventRecorder } from './create-event-recorder.ts'
import type { NamedEvent } from './event-factory.ts'

const started = { type: 'Normal', reason: 'Started', message: 'Started container main' } as const
const unreachable = () => new KubeUnreachableError('Cannot reach the server: it is away')
const refused = (code: number, reason: string, message = 'no') => new KubeApiError(message, { code, reason })

type Answer = (request: KubeRequest, signal: AbortSignal) => Promise<void> | void

/** A recorder that runs, over a server which answers as scripted. */
function start(answer: Answer = () => {}) {
  const clock = new FakeClock()
  const sent: KubeRequest[] = []
  const lines: string[] = []
  const write = (level: string) => (message: string) => void lines.push(`${level} ${message}`)
  const log: Logger = {
    error: write('error'),
    warn: write('warn'),
    info: write('info'),
    debug: write('debug'),
    child: () => log,
  }
  const recorder = createEventRecorder({
    client: {
      async send<T>(request: KubeRequest, signal: AbortSignal): Promise<T> {
        sent.push(request)
        await answer(request, signal)
        return {} as T
      },
      watch: () => assert.fail('nothing is watched'),
    },
    nodeName: 'node-1',
    clock,
    random: () => 0.5,
    newUid: () => 'a-uid',
    log,
  })
  const controller = new AbortController()
  const running = recorder.run(controller.signal)
  const stop = async () => {
    controller.abort(new Error('leave'))
    await clock.advance(500)
    await running
    assert.equal(clock.sleeping, 0)
  }
  const record = (change: Partial<typeof started> | { readonly message: string } = {}) =>
    recorder.podEvents.record(createPod(), { ...started, ...change })
  return { clock, sent, lines, recorder, record, stop }
}

const show = ({ method, path }: KubeRequest) => `${method} ${path.replace(/\.[0-9a-f]{16}$/, '.…')}`

describe('createEventRecorder()', () => {
  test('writes events of pods and of the node, and logs them', async () => {
    const { clock, sent, lines, recorder, stop } = start()
    recorder.podEvents.record(createPod({ metadata: { resourceVersion: '7' } }), {
      ...started,
      fieldPath: 'spec.containers{main}',
    })
    recorder.nodeEvents.record({ type: 'Warning', reason: 'Rebooted', message: 'the node was rebooted' })
    await clock.advance(0)
    assert.deepEqual(sent.map(show), ['POST /api/v1/namespaces/shop/events', 'POST /api/v1/namespaces/default/events'])
    assert.deepEqual(
      sent.map(({ body }) => (body as NamedEvent).involvedObject),
      [
        {
          kind: 'Pod',
          namespace: 'shop',
          name: 'web',
          uid: 'u-1',
          apiVersion: 'v1',
          resourceVersion: '7',
          fieldPath: 'spec.containers{main}',
        },
        { kind: 'Node', name: 'node-1', uid: 'node-1', apiVersion: 'v1' },
      ],
    )
    assert.deepEqual(lines, ['info event', 'warn event'])
    await stop()
  })

  test('writes an event of a pod about another object there', async () => {
    const { clock, sent, recorder, stop } = start()
    const about = { kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace: 'shop', name: 'data', uid: 'u-9' }
    recorder.podEvents.record(createPod(), { ...started, about })
    await clock.advance(0)
    assert.deepEqual(
      sent.map(({ body }) => (body as NamedEvent).involvedObject),
      [about],
    )
    await stop()
  })

  test('counts up an event that is there; creates it again when the server has forgotten it', async () => {
    let isGone = false
    const { clock, sent, record, stop } = start(({ method }) => {
      if (method === 'PATCH' && isGone) throw refused(404, 'NotFound')
    })
    record()
    await clock.advance(1000)
    record()
    await clock.advance(1000)
    isGone = true
    record()
    await clock.advance(0)
    const event = '/api/v1/namespaces/shop/events'
    const patch = `PATCH ${event}/web.…`
    assert.deepEqual(sent.map(show), [`POST ${event}`, patch, patch, `POST ${event}`])
    assert.deepEqual(
      [sent[1]?.contentType, sent[1]?.body],
      [
        'application/strategic-merge-patch+json',
        { count: 2, lastTimestamp: '2026-01-01T00:00:01Z', message: started.message },
      ],
    )
    const [first, last] = [sent[0]?.body, sent[3]?.body] as NamedEvent[]
    assert.deepEqual(last, { ...first, count: 3, lastTimestamp: '2026-01-01T00:00:02Z' })
    await stop()
  })

  test('tries again while the server is away, with the others behind it in their order', async () => {
    let isAway = true
    const { clock, sent, record, stop } = start(() => {
      if (isAway) throw unreachable()
    })
    record({ message: 'a' })
    record({ message: 'b' })
    await clock.advance(4999)
    assert.equal(sent.length, 1)
    await clock.advance(1)
    assert.equal(sent.length, 2)
    isAway = false
    await clock.advance(10_000)
    assert.deepEqual(
      sent.map(({ body }) => (body as NamedEvent).message),
      ['a', 'a', 'a', 'b'],
    )
    await stop()
  })

  test('gives an event up after twelve tries', async () => {
    const { clock, sent, lines, record, stop } = start(() => {
      throw unreachable()
    })
    record()
    await clock.advance(5000 + 11 * 10_000 + 60_000)
    assert.equal(sent.length, 12)
    assert.ok(lines.includes('error cannot write an event, giving up'))
    await stop()
  })

  const refusals: readonly (readonly [name: string, error: KubeApiError, line: string])[] = [
    ['an invalid one', refused(422, 'Invalid'), 'error an event was refused'],
    ['one that is there already', refused(409, 'AlreadyExists'), 'debug an event was refused'],
    [
      'one in a namespace that ends',
      refused(403, 'Forbidden', 'unable to create new content in namespace shop because it is being terminated'),
      'debug an event was refused',
    ],
  ]
  for (const [name, error, line] of refusals) {
    test(`drops what the server refuses: ${name}`, async () => {
      const { clock, sent, lines, record, stop } = start(() => {
        throw error
      })
      record()
      await clock.advance(60_000)
      assert.equal(sent.length, 1)
      assert.ok(lines.includes(line), lines.join())
      await stop()
    })
  }

  test('never keeps more than a thousand, and says that some were lost', async () => {
    let isAway = true
    const { clock, sent, lines, recorder, stop } = start(() => {
      if (isAway) throw unreachable()
    })
    for (let index = 0; index < 1500; index += 1) {
      recorder.podEvents.record(createPod({ metadata: { uid: `u-${index}` } }), started)
    }
    await clock.advance(0)
    isAway = false
    await clock.advance(5000)
    // The first of them failed once.
    assert.equal(sent.length, 1001)
    assert.deepEqual(
      lines.filter((line) => line.includes('lost')),
      ['error too many events wait to be sent, some are lost', 'warn events were lost'],
    )
    await stop()
  })

  test('what waits when the agent leaves is still sent', async () => {
    const { sent, record, stop } = start()
    record({ message: 'a' })
    record({ message: 'b' })
    await stop()
    assert.equal(sent.length, 2)
  })

  test('an agent that leaves does not wait for a server that is away', async () => {
    const { clock, sent, record, stop } = start(() => {
      throw unreachable()
    })
    record({ message: 'a' })
    record({ message: 'b' })
    await clock.advance(0)
    await stop()
    // The one that waited for its next try has it now.
    assert.deepEqual(
      sent.map(({ body }) => (body as NamedEvent).message),
      ['a', 'a'],
    )
  })

  test('nor for one that does not answer', async () => {
    const { clock, sent, record, stop } = start(
      (_, signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    )
    record({ message: 'a' })
    record({ message: 'b' })
    await clock.advance(0)
    await stop()
    assert.equal(sent.length, 1)
  })
})
