import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { FakeCri } from '../../../test/fakes/fake-cri.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { createCriClient } from './cri-client.ts'
import { EndpointError } from './parse-endpoint.ts'
import { runConnectionWatch, waitForReady } from '../grpc/grpc-connection.ts'
import type { CriClient } from './cri-client.ts'

const MIB = 1024 * 1024

describe('CriClient', () => {
  let fake: FakeCri
  let clock: FakeClock
  let client: CriClient
  const connect = (endpoint: string, imageEndpoint?: string) =>
    createCriClient({ runtimeEndpoint: endpoint, imageEndpoint, requestTimeoutMs: 120_000, clock, log: silentLogger })

  beforeEach(async () => {
    fake = await FakeCri.start({ images: ['web:1'], newer: true })
    clock = new FakeClock()
    client = connect(fake.endpoint)
  })

  afterEach(async () => {
    client.close()
    await fake[Symbol.asyncDispose]()
    assert.equal(clock.sleeping, 0, 'a deadline outlived its call')
  })

  test('sends what is given and fills in the rest', async ({ signal }) => {
    const reply = await client.listContainers({ filter: { labelSelector: { a: 'b' } } }, signal)
    assert.deepEqual(reply, { containers: [] })
    assert.deepEqual(fake.requests('listContainers'), [
      { filter: { id: '', state: undefined, podSandboxId: '', labelSelector: { a: 'b' } } },
    ])
  })

  test('keeps nanoseconds and large numbers exact', async ({ signal }) => {
    const stats = { attributes: { id: 'a' }, cpu: { timestamp: 1_794_780_314_290_716_609n } }
    fake.script.answer('containerStats', { stats: { ...stats, memory: { usageBytes: { value: 2n ** 64n - 1n } } } })
    const reply = await client.containerStats({ containerId: 'a' }, signal)
    assert.equal(reply.stats?.cpu?.timestamp, 1_794_780_314_290_716_609n)
    assert.equal(reply.stats.memory?.usageBytes?.value, 18_446_744_073_709_551_615n)
  })

  test('fails with the code and words of the runtime', async ({ signal }) => {
    await assert.rejects(client.containerStatus({ containerId: 'none' }, signal), {
      name: 'CriCallError',
      method: 'containerStatus',
      code: 'NotFound',
      retryable: false,
      detail: 'an error occurred when try to find container "none": not found',
    })
  })

  test('counts a stop of what is gone as done', async ({ signal }) => {
    fake.script.fail('stopContainer', 'NotFound', 'gone')
    fake.script.fail('stopPodSandbox', 'NotFound', 'gone')
    assert.deepEqual(await client.stopContainer({ containerId: 'x' }, signal), {})
    assert.deepEqual(await client.stopPodSandbox({ podSandboxId: 'x' }, signal), {})
  })

  test('refuses a reply that breaks the contract', async ({ signal }) => {
    fake.script.answer('status', { status: { conditions: [{ type: 'RuntimeReady', status: true }] } })
    await assert.rejects(client.status({}, signal), {
      code: 'InvalidReply',
      message: 'Cannot call "status": InvalidReply: reply lacks two of status.conditions',
    })
  })

  test('gives up after the deadline of the call', async ({ signal }) => {
    const release = fake.script.hold('listContainers')
    const late = assert.rejects(client.listContainers({}, signal), {
      code: 'DeadlineExceeded',
      retryable: true,
      detail: 'no answer after 120 s',
    })
    await until(() => fake.requests('listContainers').length === 1)
    await clock.advance(119_999)
    await clock.advance(1)
    await late
    release()
  })

  test('waits for a pull without end', async ({ signal }) => {
    const release = fake.script.hold('pullImage')
    const pull = client.pullImage({ image: { image: 'late:1' } }, signal)
    await until(() => fake.requests('pullImage').length === 1)
    await clock.advance(3_600_000)
    release()
    assert.match((await pull).imageRef, /^sha256:/)
  })

  test('cancels a call with its signal and forgets the signal', async () => {
    const { signal, abort } = abortable()
    const release = fake.script.hold('listImages')
    const reason = new Error('no longer wanted')
    const call = assert.rejects(client.listImages({}, signal), (error) => error === reason)
    await until(() => fake.requests('listImages').length === 1)
    abort(reason)
    await call
    assert.equal(getEventListeners(signal, 'abort').length, 0)
    await assert.rejects(client.listImages({}, signal), (error) => error === reason)
    release()
    assert.equal(fake.requests('listImages').length, 1)
  })

  test('leaves nothing on the signal of a call that went well', async () => {
    const { signal } = abortable()
    await client.version({}, signal)
    for await (const _ of client.streamImages({}, signal)) break
    assert.equal(getEventListeners(signal, 'abort').length, 0)
  })

  test('takes replies of up to 16 MiB', async ({ signal }) => {
    const version = { version: 'v', runtimeName: 'n', runtimeVersion: 'r' }
    fake.script.answer('version', { ...version, runtimeApiVersion: 'x'.repeat(16 * MIB - 64) })
    assert.equal((await client.version({}, signal)).runtimeApiVersion.length, 16 * MIB - 64)
    fake.script.answer('version', { ...version, runtimeApiVersion: 'x'.repeat(16 * MIB) })
    await assert.rejects(client.version({}, signal), { code: 'ResourceExhausted', retryable: false })
  })

  test('asks for at least the request timeout for a checkpoint', async ({ signal }) => {
    const timeouts = [0n, 300n]
    for (const timeout of timeouts) {
      await assert.rejects(client.checkpointContainer({ containerId: 'x', timeout }, signal), { code: 'Unimplemented' })
    }
    await assert.rejects(client.checkpointContainer({ timeout: -1n }, signal), { code: 'InvalidArgument' })
    assert.deepEqual(
      fake.requests('checkpointContainer').map(({ timeout }) => timeout),
      [120n, 300n],
    )
  })

  test('asks images of the image endpoint', async ({ signal }) => {
    await using images = await FakeCri.start({ images: ['other:1'] })
    using both = connect(fake.endpoint, images.endpoint)
    const { images: list } = await both.listImages({}, signal)
    assert.deepEqual(
      list.flatMap(({ repoTags }) => repoTags),
      ['other:1'],
    )
    await both.version({}, signal)
    assert.deepEqual(
      images.called.map(({ method }) => method),
      ['listImages'],
    )
  })

  test('warns of a bare path and refuses anything but a unix socket', () => {
    const warnings: unknown[] = []
    const log = { ...silentLogger, warn: (...line: unknown[]) => void warnings.push(line) }
    createCriClient({ runtimeEndpoint: '/run/x.sock', requestTimeoutMs: 1, clock, log }).close()
    assert.deepEqual(warnings, [['runtime endpoint without unix:// is deprecated', { endpoint: '/run/x.sock' }]])
    assert.throws(() => connect('tcp://127.0.0.1:1'), EndpointError)
    assert.throws(() => connect(fake.endpoint, 'http://x'), EndpointError)
  })

  describe('streams', () => {
    test('yield each message and end', async ({ signal }) => {
      const replies = await Array.fromAsync(client.streamImages({}, signal))
      assert.deepEqual(
        replies.map(({ images }) => images.map(({ repoTags }) => repoTags)),
        [[['web:1']]],
      )
    })

    test('fail with a typed error', async ({ signal }) => {
      const events = Array.fromAsync(client.getContainerEvents({}, signal))
      await assert.rejects(events, { name: 'CriCallError', method: 'getContainerEvents', code: 'Unimplemented' })
    })

    test('have a deadline as a whole', async ({ signal }) => {
      const release = fake.script.hold('streamImages')
      const late = assert.rejects(Array.fromAsync(client.streamImages({}, signal)), { code: 'DeadlineExceeded' })
      await until(() => fake.requests('streamImages').length === 1)
      await clock.advance(120_000)
      await late
      release()
    })

    test('end with the reason of their signal', async () => {
      const { signal, abort } = abortable()
      const reason = new Error('enough')
      const events = assert.rejects(Array.fromAsync(client.containerdEvents([], signal)), (error) => error === reason)
      await until(() => fake.events.listeners === 1)
      abort(reason)
      await events
      await until(() => fake.events.listeners === 0)
      assert.equal(getEventListeners(signal, 'abort').length, 0)
    })

    test('are cancelled when their reader leaves', async ({ signal }) => {
      const events = client.containerdEvents([], signal)[Symbol.asyncIterator]()
      const first = events.next()
      await until(() => fake.events.listeners === 1)
      fake.events.emit('a', 'started')
      assert.equal((await first).value?.topic, '/tasks/start')
      await events.return?.()
      await until(() => fake.events.listeners === 0)
    })
  })

  describe('connection', () => {
    test('fails calls while the runtime is away and comes back', async ({ signal }) => {
      await client.version({}, signal)
      fake.stopListening()
      await until(() => !client.connection.connected)
      await assert.rejects(client.version({}, signal), { code: 'Unavailable', retryable: true })
      await fake.listen()
      await waitForReady(client.connection, signal)
      await client.version({}, signal)
    })

    test('breaks off the calls under way', async ({ signal }) => {
      const release = fake.script.hold('listImages')
      const call = assert.rejects(client.listImages({}, signal), { code: 'Unavailable', retryable: true })
      await until(() => fake.requests('listImages').length === 1)
      await fake.dropConnections()
      await call
      release()
    })

    test('reports when the runtime comes and goes', async () => {
      const { signal, abort } = abortable()
      const seen: boolean[] = []
      const watch = runConnectionWatch(
        { connection: client.connection, onChange: (now) => void seen.push(now) },
        signal,
      )
      await until(() => seen.length === 2)
      fake.stopListening()
      await until(() => seen.length === 3)
      await fake.listen()
      await until(() => seen.length === 4)
      abort(new Error('enough'))
      await watch
      assert.deepEqual(seen, [false, true, false, true])
      assert.equal(getEventListeners(signal, 'abort').length, 0)
    })

    test('may be closed twice; later calls fail, watchers end', async ({ signal }) => {
      await client.version({}, signal)
      const seen: boolean[] = []
      const watch = runConnectionWatch(
        { connection: client.connection, onChange: (now) => void seen.push(now) },
        signal,
      )
      client.close()
      client.close()
      await watch
      assert.deepEqual(seen, [true, false])
      await assert.rejects(client.version({}, signal), { code: 'Unavailable' })
      await assert.rejects(Array.fromAsync(client.streamImages({}, signal)), { code: 'Unavailable' })
      await assert.rejects(waitForReady(client.connection, signal), /connection is closed/)
    })
  })
})

function abortable(): { signal: AbortSignal; abort: (reason: Error) => void } {
  const controller = new AbortController()
  return { signal: controller.signal, abort: (reason) => controller.abort(reason) }
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await setImmediate()
}
