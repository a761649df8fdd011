import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { MAX_MANIFEST_BYTES } from '../../model/schema/parse-manifest.ts'
import type { LogFields, Logger } from '../../base/telemetry/logger.ts'
import { decodeStaticPods } from './decode-static-pod.ts'
import { runUrlSource } from './run-url-source.ts'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

const pod = (name: string) => ({ metadata: { name }, spec: { containers: [{ name: 'c', image: 'i' }] } })
const one = (name: string) => JSON.stringify({ apiVersion: 'v1', kind: 'Pod', ...pod(name) })
const list = (...names: string[]) => JSON.stringify({ apiVersion: 'v1', kind: 'PodList', items: names.map(pod) })
const body =
  (text: string): Answer =>
  (_, response) =>
    response.end(text)
const status =
  (code: number): Answer =>
  (_, response) =>
    response.writeHead(code).end()

/** Lets a source ask a server that gives these answers, one for each question; the last one again and again. */
async function ask(t: TestContext, answers: readonly Answer[], questions = answers.length) {
  const clock = new FakeClock()
  const emitted: string[][] = []
  const logged: string[] = []
  const requests: IncomingMessage[] = []
  let answered = Promise.withResolvers<void>()
  const server = createServer((request, response) => {
    requests.push(request)
    answers[Math.min(requests.length, answers.length) - 1]?.(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://user:secret@127.0.0.1:${(server.address() as AddressInfo).port}/pods`
  const log = (level: string) => (message: string, fields?: LogFields) =>
    logged.push(`${level}: ${message}: ${String(fields?.['reason'])}`)
  const logger: Logger = {
    error: log('error'),
    warn: log('warn'),
    info: log('info'),
    debug: log('debug'),
    child: () => logger,
  }
  const stop = new AbortController()
  const counting = {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    // A question is over when the source goes to sleep until the next.
    sleep: (ms: number, signal: AbortSignal) => {
      if (ms === 20_000) answered.resolve()
      return clock.sleep(ms, signal)
    },
  }
  const running = runUrlSource(
    {
      url,
      headers: { 'X-Token': ['a', 'b'] },
      checkFrequencyMs: 20_000,
      clock: counting,
      logger,
      decode: (bytes) => decodeStaticPods(bytes, { kind: 'http', url }, { nodeName: 'n', refuseApiReferences: true }),
      emit: (pods) => emitted.push(pods.map(({ metadata }) => metadata.name)),
    },
    stop.signal,
  )
  t.after(() => server.close())
  for (let question = 1; question <= questions; question++) {
    await answered.promise
    answered = Promise.withResolvers()
    if (question < questions) await clock.advance(20_000)
  }
  stop.abort(new Error('Test ended'))
  await running
  assert.equal(clock.sleeping, 0)
  return { emitted, logged, requests }
}

describe('runUrlSource()', { timeout: 20_000 }, () => {
  test('takes a pod or a list, with every header, and only what changed', async (t) => {
    const answers = [body(one('a')), body(one('a')), body(list('a', 'b'))]
    const { emitted, requests } = await ask(t, answers)
    assert.deepEqual(emitted, [['a-n'], ['a-n', 'b-n']])
    assert.deepEqual(requests[0]?.headersDistinct['x-token'], ['a', 'b'])
  })

  test('keeps the last pods while the server fails or answers nonsense', async (t) => {
    const { emitted, logged } = await ask(t, [
      body(one('a')),
      status(500),
      body('{'),
      body(list('a', 'B')),
      body(one('a')),
    ])
    assert.deepEqual(emitted, [['a-n'], ['a-n']])
    assert.deepEqual(
      logged.map((line) => line.replace(/127\S+/, 'HOST')),
      [
        'warn: cannot take pods from the URL: Cannot fetch "http://HOST status 500, expected 200',
        'warn: cannot take pods from the URL: 1:2 the text ends too early: expected a key in double quotes',
        `warn: cannot take pods from the URL: 1:134 items[1].metadata.name: Invalid value: "B-n": must be at most 253 lower case letters, digits, '-' or '.', each part starting and ending with a letter or digit`,
      ],
    )
  })

  test('takes an empty answer as no pods, and says so', async (t) => {
    const { emitted, logged } = await ask(t, [body(one('a')), body('')])
    assert.deepEqual(emitted, [['a-n'], []])
    assert.match(logged[0] ?? '', /the answer is empty$/)
  })

  test('grows quiet after three failures', async (t) => {
    const { logged } = await ask(t, [status(404)], 6)
    assert.deepEqual(
      logged.map((line) => line.split(': ').slice(0, 2).join(': ')),
      [
        'warn: cannot take pods from the URL',
        'warn: cannot take pods from the URL',
        'warn: cannot take pods from the URL',
        'warn: cannot take pods from the URL, further failures are logged at verbosity 4',
        'debug: cannot take pods from the URL',
        'debug: cannot take pods from the URL',
      ],
    )
  })

  test('follows a redirect', async (t) => {
    const redirect: Answer = (_, response) => response.writeHead(302, { location: '/other' }).end()
    const { emitted, requests } = await ask(t, [redirect, body(one('a'))], 1)
    assert.deepEqual(emitted, [['a-n']])
    assert.equal(requests[1]?.url, '/other')
  })

  test('stops reading an answer that is too large', async (t) => {
    const { emitted, logged } = await ask(t, [body(' '.repeat(MAX_MANIFEST_BYTES + 1))])
    assert.deepEqual(emitted, [])
    assert.match(logged[0] ?? '', /Cannot take the answer: more than 10485760 bytes$/)
  })
})
