import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeClock } from '../../../../test/fakes/fake-clock.ts'
import { silentLogger } from '../../../base/telemetry/silent-logger.ts'
import { ListImagesResponse, VersionResponse } from '../../../protocols/cri/generated/runtime-v1.ts'
import { NodeSurroundings } from './node-surroundings.ts'

const never = new AbortController().signal

function setUp() {
  const clock = new FakeClock()
  const asked: string[] = []
  const answers = {
    address: async () => ({ fault: undefined, found: '192.0.2.1' as string | undefined }),
    storage: async () => 7n,
    images: async () => ListImagesResponse.fromPartial({ images: [{ id: 'i', repoTags: ['a:1'], size: 5n }] }),
    version: async () =>
      VersionResponse.fromPartial({ version: '0.1.0', runtimeName: 'containerd', runtimeVersion: 'v2.1.4' }),
  }
  const ask = <K extends keyof typeof answers>(name: K) => {
    asked.push(name)
    return answers[name]() as ReturnType<(typeof answers)[K]>
  }
  const surroundings = new NodeSurroundings({
    calls: { listImages: () => ask('images'), version: () => ask('version') },
    runtime: { name: 'containerd', version: '1.6.20~ds1' },
    readAddress: () => ask('address'),
    readStorageBytes: () => ask('storage'),
    clock,
    log: silentLogger,
  })
  const seen = () => {
    const { address, storageBytes, runtimeVersion, images } = surroundings
    return [address.found, storageBytes, runtimeVersion, images.map(({ id }) => id)]
  }
  return { clock, surroundings, answers, seen, asked: () => asked.splice(0).sort() }
}

describe('NodeSurroundings', () => {
  test('knows nothing but the runtime before it has asked', () => {
    assert.deepEqual(setUp().seen(), [undefined, undefined, 'containerd://1.6.20', []])
  })

  test('asks for everything, then for each thing as often as it may change', async () => {
    const { surroundings, clock, seen, asked } = setUp()
    await surroundings.refresh(never)
    assert.deepEqual(seen(), ['192.0.2.1', 7n, 'containerd://2.1.4', ['i']])
    asked()
    const stop = new AbortController()
    const running = surroundings.run(stop.signal)
    running.catch(() => {})
    await clock.advance(29_999)
    assert.deepEqual(asked(), ['address', 'address'])
    await clock.advance(1)
    assert.deepEqual(asked(), ['address', 'images', 'version'])
    stop.abort(new Error('leave'))
    await assert.rejects(running, /leave/)
    assert.equal(clock.sleeping, 0)
  })

  test('keeps what it knew while there is no answer, and asks again soon', async () => {
    const { surroundings, answers, clock, seen, asked } = setUp()
    await surroundings.refresh(never)
    const fail = () => Promise.reject(new Error('no'))
    Object.assign(answers, { address: fail, images: fail, version: fail })
    await clock.advance(30_000)
    await surroundings.refresh(never)
    asked()
    answers.address = async () => ({ fault: undefined, found: undefined })
    await clock.advance(10_000)
    await surroundings.refresh(never)
    assert.deepEqual(asked(), ['address', 'images', 'version'])
    assert.deepEqual(seen(), ['192.0.2.1', 7n, 'containerd://2.1.4', ['i']])
  })

  for (const [name, end] of [
    ['comes', (late: PromiseWithResolvers<void>) => late.resolve()],
    ['fails', (late: PromiseWithResolvers<void>) => late.reject(new Error('no'))],
  ] as const) {
    test(`has sought the address when the first answer ${name}, however late`, async () => {
      const { surroundings, answers, clock, seen } = setUp()
      const late = Promise.withResolvers<void>()
      answers.address = async () => (await late.promise, { fault: undefined, found: '192.0.2.1' })
      const reported: unknown[] = []
      void surroundings.addressSought.then(() => reported.push(seen()[0]))
      const refreshed = surroundings.refresh(never)
      await clock.advance(5000)
      await refreshed
      assert.deepEqual(reported, [])
      end(late)
      await clock.advance(0)
      assert.deepEqual(reported, [name === 'comes' ? '192.0.2.1' : undefined])
    })
  }

  test('does not wait for long for one that hangs, nor ask it again meanwhile', async () => {
    const { surroundings, answers, clock, seen, asked } = setUp()
    const hanging = Promise.withResolvers<bigint>()
    answers.storage = () => hanging.promise
    const first = surroundings.refresh(never)
    await clock.advance(5000)
    await first
    assert.deepEqual(seen(), ['192.0.2.1', undefined, 'containerd://2.1.4', ['i']])
    const second = surroundings.refresh(never)
    await clock.advance(5000)
    await second
    assert.deepEqual(
      asked().filter((name) => name === 'storage'),
      ['storage'],
    )
    hanging.resolve(9n)
    await surroundings.refresh(never)
    assert.equal(surroundings.storageBytes, 9n)
  })
})
