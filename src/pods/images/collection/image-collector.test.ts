import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { noTracer } from '../../../base/telemetry/tracer.ts'
import { createPod } from '../../../../test/builders/create-pod.ts'
import { FakeClock } from '../../../../test/fakes/fake-clock.ts'
import { SimulatedImages } from '../../../simulation/runtime/simulated-images.ts'
import { silentLogger } from '../../../base/telemetry/silent-logger.ts'
import { CriCallError } from '../../../protocols/cri/cri-call-error.ts'
import { Container } from '../../../protocols/cri/generated/runtime-v1.ts'
import { ImageCollector } from './image-collector.ts'
import type { ImageCollectorDeps } from './image-collector.ts'
import { runImageGarbageCollection } from './run-image-garbage-collection.ts'

const never = new AbortController().signal
const policy = { highPercent: 85, lowPercent: 80, minimumAgeMs: 120_000, maximumAgeMs: 0 }

describe('ImageCollector', () => {
  let clock: FakeClock
  let images: SimulatedImages
  let used: string[]
  let volumes: string[]
  let observed: string[]
  let space: { capacityBytes: number; availableBytes: number }
  let stuck: Set<string>
  let events: string[]
  let remaining: string[][]
  let sandboxImage: string | undefined
  let onRemove: (tag: string) => void

  beforeEach(() => {
    clock = new FakeClock()
    images = new SimulatedImages()
    used = []
    volumes = []
    observed = []
    space = { capacityBytes: 1000, availableBytes: 0 }
    stuck = new Set()
    events = []
    remaining = []
    sandboxImage = undefined
    onRemove = () => {}
    for (const name of ['a', 'b', 'c']) images.add(`r.example/${name}:1`, { size: 100n })
  })

  const tags = () => images.list().flatMap(({ repoTags }) => repoTags.map((tag) => tag.slice('r.example/'.length, -2)))
  const idOf = (tag: string) => images.resolve(`r.example/${tag}:1`).id

  function makeCalls(): ImageCollectorDeps['calls'] {
    return {
      listImages: async () => ({ images: images.list() }),
      listContainers: async () => ({
        containers: used.map((tag) => Container.fromPartial({ imageRef: idOf(tag), image: { image: 'x' } })),
      }),
      status: async () => ({
        info: sandboxImage === undefined ? {} : { config: JSON.stringify({ sandboxImage }) },
        runtimeHandlers: [],
      }),
      imageFsInfo: async () => ({
        imageFilesystems: [{ timestamp: 0n, fsId: { mountpoint: '/images' } }],
        containerFilesystems: [],
      }),
      removeImage: async ({ image }) => {
        const id = image?.image ?? ''
        const tag = images.resolve(id).repoTags[0]?.slice('r.example/'.length, -2) ?? ''
        if (stuck.has(tag)) throw new Error('image is busy')
        images.remove(id)
        onRemove(tag)
        return {}
      },
    }
  }

  function makeCollector(deps: Partial<ImageCollectorDeps> = {}) {
    return new ImageCollector({
      calls: makeCalls(),
      policy,
      desiredPods: () =>
        volumes.map((reference) => createPod({ spec: { volumes: [{ name: 'v', image: { reference } }] } })),
      observedImages: () => observed,
      readSpace: async (path) => {
        assert.equal(path, '/images')
        return space
      },
      onRemaining: async (refs) => void remaining.push([...refs]),
      events: { record: ({ type, reason, message }) => void events.push(`${type} ${reason} ${message}`) },
      clock,
      log: silentLogger,
      ...deps,
    })
  }

  test('lists all images with their names, and since when it knows them', async () => {
    const collector = makeCollector()
    used = ['a']
    await collector.observe(never)
    await clock.advance(5000)
    images.add('r.example/d:1', { size: 100n })
    const listed = await collector.list(never)
    assert.deepEqual(
      listed.map(({ names, inUse, firstSeenAt }) => [names[0], inUse, clock.monotonic() - firstSeenAt]),
      [
        ['r.example/a:1', true, 5000],
        ['r.example/b:1', false, 5000],
        ['r.example/c:1', false, 5000],
        ['r.example/d:1', false, 0],
      ],
    )
  })

  test('removes the least used until there is room', async () => {
    const collector = makeCollector()
    used = ['a', 'b', 'c']
    await collector.observe(never)
    await clock.advance(200_000)
    used = ['c']
    await collector.observe(never)
    await clock.advance(200_000)
    used = []
    space = { capacityBytes: 1000, availableBytes: 50 }
    await collector.collect(never)
    assert.deepEqual(tags(), ['c'])
    assert.deepEqual(remaining, [[idOf('c')]])
    assert.deepEqual(events, [])
  })

  test('leaves images of containers, of volumes, of sandboxes, pinned and new ones', async () => {
    images = new SimulatedImages()
    for (const name of ['used', 'observed', 'volume', 'sandbox', 'gone'])
      images.add(`r.example/${name}:1`, { size: 100n })
    images.add('r.example/pinned:1', { pinned: true })
    used = ['used']
    // A list that is cut short does not have its container.
    observed = [idOf('observed')]
    volumes = ['r.example/volume:1']
    sandboxImage = 'r.example/sandbox:1'
    const collector = makeCollector()
    await collector.observe(never)
    await clock.advance(200_000)
    images.add('r.example/new:1')
    await assert.rejects(collector.collect(never), { name: 'ImageGarbageError' })
    assert.deepEqual(tags(), ['used', 'observed', 'volume', 'sandbox', 'pinned', 'new'])
    assert.deepEqual(events, [
      "Warning FreeDiskSpaceFailed Insufficient free disk space on the node's image filesystem (100% of 1000 B used). Failed to free sufficient space by deleting unused images (freed 100 bytes). Investigate disk usage, as it could be used by active images, logs, volumes, or other data.",
    ])
    assert.equal(remaining.length, 1)
  })

  test('leaves the images of what was observed when the list of containers is too large to be sent', async () => {
    observed = [idOf('a'), 'r.example/b:1']
    const collector = makeCollector({
      calls: {
        ...makeCalls(),
        listContainers: async () => {
          throw new CriCallError('listContainers', 'ResourceExhausted', 'message larger than max')
        },
      },
    })
    await collector.observe(never)
    await clock.advance(200_000)
    await collector.collectUnused(never)
    assert.deepEqual(tags(), ['a', 'b'])
  })

  test('skips an image without an id, and says so', async () => {
    const [a] = images.list()
    assert.ok(a)
    const spec = { image: '', runtimeHandler: 'vm', annotations: {}, userSpecifiedImage: '', imageRef: '' }
    const removed: unknown[] = []
    const calls = {
      status: async () => ({ info: {}, runtimeHandlers: [] }),
      listImages: async () => ({ images: [{ ...a, id: '', spec }, a] }),
      listContainers: async () => ({ containers: [] }),
      removeImage: async ({ image }: { image?: object }) => (removed.push(image), {}),
    }
    const collector = makeCollector({ calls: calls as unknown as ImageCollectorDeps['calls'], byHandler: true })
    await collector.observe(never)
    await clock.advance(200_000)
    await collector.collectUnused(never)
    assert.deepEqual(removed, [{ image: a.id, runtimeHandler: '' }])
    assert.deepEqual(events, ['Warning InvalidImageID ImageID is not valid, skipping, image: ,vm'])
  })

  test('counts the copies of an image apart that a runtime keeps for each handler', async () => {
    const [a] = images.list()
    assert.ok(a)
    const copies = ['', 'vm'].map((runtimeHandler) => ({
      ...a,
      spec: { image: a.id, runtimeHandler, annotations: {}, userSpecifiedImage: '', imageRef: '' },
    }))
    const removed: unknown[] = []
    const calls = {
      status: async () => ({ info: {}, runtimeHandlers: [] }),
      imageFsInfo: async () => ({ imageFilesystems: [], containerFilesystems: [] }),
      listImages: async () => ({ images: copies }),
      listContainers: async () => ({
        containers: [Container.fromPartial({ imageRef: a.id, image: { image: a.id, runtimeHandler: 'vm' } })],
      }),
      removeImage: async ({ image }: { image?: object }) => (removed.push(image), {}),
    }
    const collectUnused = async (byHandler: boolean) => {
      const collector = makeCollector({ calls: calls as unknown as ImageCollectorDeps['calls'], byHandler })
      await collector.observe(never)
      await clock.advance(200_000)
      await collector.collectUnused(never)
    }
    await collectUnused(true)
    assert.deepEqual(removed, [{ image: a.id, runtimeHandler: '' }])
    assert.deepEqual(remaining, [[a.id]], 'the copy that is used is left')
    await collectUnused(false)
    assert.equal(removed.length, 1, 'without the feature there is one image, and it is used')
  })

  test('leaves an image that a pod asked for while the pass goes on', async () => {
    const collector = makeCollector()
    await collector.observe(never)
    await clock.advance(200_000)
    onRemove = () => collector.note(idOf('b'))
    await collector.collect(never)
    assert.deepEqual(tags(), ['b'])
  })

  test('goes on when one image cannot be removed', async () => {
    stuck = new Set(['a'])
    const collector = makeCollector()
    await collector.observe(never)
    await clock.advance(200_000)
    await collector.collect(never)
    assert.deepEqual(tags(), ['a'])
  })

  test('does nothing while there is room', async () => {
    space = { capacityBytes: 1000, availableBytes: 500 }
    const collector = makeCollector()
    await collector.observe(never)
    await clock.advance(200_000)
    await collector.collect(never)
    assert.deepEqual(tags(), ['a', 'b', 'c'])
  })

  test('removes what was not used for long, whatever the room', async () => {
    space = { capacityBytes: 1000, availableBytes: 500 }
    const collector = makeCollector({ policy: { ...policy, maximumAgeMs: 600_000 } })
    used = ['a']
    await collector.observe(never)
    await clock.advance(300_000)
    collector.note(idOf('b'))
    await collector.collect(never)
    assert.deepEqual(tags(), ['a', 'b', 'c'])
    await clock.advance(300_001)
    await collector.collect(never)
    assert.deepEqual(tags(), ['a', 'b'])
  })

  test('removes all that is unused when the node is short, however much room there is', async () => {
    space = { capacityBytes: 1000, availableBytes: 900 }
    used = ['b']
    const collector = makeCollector()
    await collector.observe(never)
    await clock.advance(120_000)
    images.add('r.example/new:1', { size: 100n })
    await collector.collectUnused(never)
    assert.deepEqual(tags().sort(), ['b', 'new'])
    assert.equal(remaining.at(-1)?.length, 2)
  })

  test('says when the runtime’s disk has no size', async () => {
    space = { capacityBytes: 0, availableBytes: 0 }
    await assert.rejects(makeCollector().collect(never), { message: 'invalid capacity 0 on image filesystem' })
    assert.deepEqual(events, ['Warning InvalidDiskCapacity invalid capacity 0 on image filesystem'])
  })
})

describe('runImageGarbageCollection()', () => {
  async function run(policyFields: Partial<typeof policy>, outcomes: string) {
    const clock = new FakeClock()
    const passes: string[] = []
    const events: string[] = []
    const stop = new AbortController()
    const act = (name: string) => async () => {
      const outcome = outcomes[passes.length]
      passes.push(`${name} ${clock.now()}`)
      if (outcome === '-') throw new Error('no')
    }
    const running = runImageGarbageCollection(
      {
        collector: { observe: act('observe'), collect: act('collect') },
        policy: { ...policy, ...policyFields },
        events: { record: ({ reason }) => void events.push(`${passes.length} ${reason}`) },
        tracer: noTracer,
        clock,
        log: silentLogger,
      },
      stop.signal,
    )
    const start = clock.now()
    await clock.advance(1_500_000)
    stop.abort(new Error('enough'))
    await running.catch((error: Error) => assert.equal(error.message, 'enough'))
    assert.equal(clock.sleeping, 0)
    return { passes: passes.map((pass) => pass.replace(/\d+/, (ms) => String((Number(ms) - start) / 1000))), events }
  }

  test('observes at the start and collects every five minutes', async () => {
    const { passes, events } = await run({}, '')
    assert.deepEqual(passes, ['observe 0', 'collect 300', 'collect 600', 'collect 900', 'collect 1200', 'collect 1500'])
    assert.deepEqual(events, [])
  })

  test('reports the second failure in a row', async () => {
    assert.deepEqual((await run({}, '+-+--+')).events, ['5 ImageGCFailed'])
  })

  test('only observes when none is to go by itself, and collects for age alone', async () => {
    const observations = (await run({ highPercent: 100 }, '')).passes
    assert.deepEqual(observations, [
      'observe 0',
      'observe 300',
      'observe 600',
      'observe 900',
      'observe 1200',
      'observe 1500',
    ])
    assert.equal((await run({ highPercent: 100, maximumAgeMs: 1 }, '')).passes.at(-1), 'collect 1500')
  })
})
