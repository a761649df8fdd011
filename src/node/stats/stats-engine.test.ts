import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { TestContext } from 'node:test'
import { FakeStatsWorld } from '../../../test/fakes/fake-stats-world.ts'
import { RECORDED_POD } from '../../../test/fixtures/read-recorded-cgroups.ts'
import { createInstance } from '../../../test/builders/create-observed-pod.ts'
import { CriCallError } from '../../protocols/cri/cri-call-error.ts'
import type { StatsDeps } from './stats-deps.ts'
import { StatsEngine } from './stats-engine.ts'

const { signal } = new AbortController()

function setUp(t: TestContext, version: 1 | 2 = 2, parts: Partial<StatsDeps> = {}) {
  const world = new FakeStatsWorld(version)
  const leave = new AbortController()
  const engine = new StatsEngine({ ...world.deps, ...parts }, leave.signal)
  const running = engine.run(leave.signal).catch((error: unknown) => assert.equal(error, leave.signal.reason))
  t.after(async () => {
    leave.abort(new Error('leave'))
    await running
    assert.deepEqual([world.clock.sleeping, getEventListeners(leave.signal, 'abort').length], [0, 0])
  })
  const snapshots = () => world.take().filter((line) => line === 'statfs /root').length
  /** A snapshot takes a few turns; time does not stand still for it, but it is not to be outrun. */
  const pass = async (seconds: number) => {
    for (let second = 0; second < seconds; second += 1) {
      await world.clock.advance(1000)
      for (let turn = 0; turn < 10; turn += 1) await setImmediate()
    }
  }
  return { world, engine, snapshots, pass }
}

describe('StatsEngine', () => {
  test('does nothing while no client asks', async (t) => {
    const { world, engine } = setUp(t)
    await world.clock.advance(3_600_000)
    assert.deepEqual([world.take(), world.cgroups.reads, engine.snapshot()], [[], 0, undefined])
  })

  test('has the pressure of the machine for the node where cgroups count none', async (t) => {
    const { world, engine } = setUp(t, 1, { pressure: true })
    const line = (avg10: number) => `some avg10=${avg10} avg60=2.00 avg300=3.00 total=4\n`
    for (const [name, avg10] of Object.entries({ cpu: 99.5, memory: 44.73, io: 0.25 }))
      world.kernelFiles.set(`/proc/pressure/${name}`, line(avg10))
    const { node, pods } = await engine.ask(['usage'], signal)
    const { cpu, memory, io } = node.root.sample
    const read = [cpu, memory, io].map((each) => each?.pressure?.some.avg10)
    assert.deepEqual([...read, pods[0]?.cgroup?.sample.cpu?.pressure], [99.5, 44.73, 0.25, undefined])
  })

  test('answers from the last snapshot, however many ask', async (t) => {
    const { world, engine, snapshots } = setUp(t)
    const answers = await Promise.all([1, 2, 3].map(() => engine.ask(['usage'], signal)))
    await world.clock.advance(5000)
    const [first] = answers
    assert.deepEqual([...new Set([...answers, await engine.ask(['usage'], signal), engine.snapshot()])], [first])
    assert.equal(snapshots(), 1)
  })

  test('reads the layers of containers pod by pod where the list of all is too large to be sent', async (t) => {
    const whole = new FakeStatsWorld(2).deps.calls
    const asked: unknown[] = []
    const calls: StatsDeps['calls'] = {
      ...whole,
      listContainerStats: async (request, given) => {
        asked.push(request.filter?.labelSelector)
        if (request.filter !== undefined) return await whole.listContainerStats(request, given)
        throw new CriCallError('listContainerStats', 'ResourceExhausted', 'message larger than max')
      },
    }
    const { world, engine } = setUp(t, 2, { calls })
    const { pods } = await engine.ask(['usage', 'disk'], signal)
    assert.equal(pods[0]?.containers[0]?.rootfs?.bytes, 4096)
    assert.deepEqual(asked, [undefined, ...world.pods.map(({ uid }) => ({ 'io.kubernetes.pod.uid': uid }))])
  })

  test('takes snapshots at the interval for a minute after the last request, then none', async (t) => {
    const { engine, snapshots, pass } = setUp(t)
    await engine.ask(['usage'], signal)
    await pass(60)
    assert.equal(snapshots(), 7)
    await pass(100)
    assert.deepEqual([snapshots(), engine.snapshot()], [0, undefined])
    await engine.ask(['usage'], signal)
    assert.equal(snapshots(), 1)
  })

  test('takes another snapshot for a client that wants more parts, or a newer one', async (t) => {
    const { world, engine } = setUp(t)
    await engine.ask(['usage'], signal)
    assert.deepEqual(world.take(), ['statfs /root'])
    const { parts } = await engine.ask(['usage', 'disk'], signal)
    assert.deepEqual([...parts].sort(), ['disk', 'usage'])
    const log = '/logs/shop_web_11111111-2222-3333-4444-555555555555'
    assert.deepEqual(world.take().toSorted(), ['images', 'layers', `list ${log}`, 'statfs /images', 'statfs /root'])
    // Docker keeps the logs of containers in its own folder.
    assert.deepEqual(world.dockerLogs, { root: '/images', containerIds: new Set(['c1']) })
    await engine.ask(['usage'], signal)
    assert.deepEqual(world.take(), [])
    await world.clock.advance(1)
    await engine.ask(['usage'], signal, 0)
    assert.equal(world.take().length > 0, true)
  })

  for (const [runtime, imageFolder, folder] of [
    ['containerd', '/c/io.containerd.snapshotter.v1.overlayfs', '/c/io.containerd.grpc.v1.cri/sandboxes/s-web'],
    ['Docker', '/docker', '/docker/containers/s-web'],
  ] as const)
    test(`counts the files that ${runtime} keeps for a sandbox and its containers can write to`, async (t) => {
      const { world, engine } = setUp(t)
      world.imageFolder = imageFolder
      const before = (await engine.ask(['usage', 'disk'], signal, 0)).pods[0]?.ownFiles
      world.folders.set(folder, { own: { bytes: 5000, inodes: 3 }, folders: new Map() })
      await world.clock.advance(1)
      const after = (await engine.ask(['usage', 'disk'], signal, 0)).pods[0]?.ownFiles
      assert.deepEqual(after, { bytes: (before?.bytes ?? 0) + 5000, inodes: (before?.inodes ?? 0) + 3 })
    })

  test('counts the files that plugins keep for a pod, also those in folders of their own', async (t) => {
    const { world, engine } = setUp(t)
    const [pod] = world.pods
    const before = (await engine.ask(['usage', 'disk'], signal, 0)).pods[0]?.ownFiles
    world.folders.set(`/root/pods/${pod?.uid}/plugins`, {
      own: { bytes: 3000, inodes: 2 },
      folders: new Map([
        ['kubernetes.io~csi', { bytes: 500, inodes: 1 }],
        ['example.com', { bytes: 70, inodes: 1 }],
      ]),
    })
    await world.clock.advance(1)
    const after = (await engine.ask(['usage', 'disk'], signal, 0)).pods[0]?.ownFiles
    assert.deepEqual(after, { bytes: (before?.bytes ?? 0) + 3570, inodes: (before?.inodes ?? 0) + 4 })
  })

  test('counts what containers write with the images where a file system of its own for it is not looked for', async (t) => {
    const { deps } = new FakeStatsWorld(2)
    const calls: StatsDeps['calls'] = {
      ...deps.calls,
      imageFsInfo: async () => ({
        imageFilesystems: [{ timestamp: 1n, fsId: { mountpoint: '/images' } }],
        containerFilesystems: [{ timestamp: 1n, fsId: { mountpoint: '/containers' } }],
      }),
    }
    const files = {
      ...deps.files,
      fileSystem: async (path: string) => ({ ...(await deps.files.fileSystem(path)), device: path }),
    }
    let split = 0
    const on = setUp(t, 2, { calls, files })
    const off = setUp(t, 2, { calls, files, onSplitDisk: () => void (split += 1) })
    const containerFs = async ({ engine }: typeof on) =>
      (await engine.ask(['fileSystems'], signal)).node.containerFs?.device
    assert.deepEqual([await containerFs(on), split], ['/containers', 0])
    assert.deepEqual([await containerFs(off), split], [undefined, 1])
  })

  test('takes one more snapshot for a client that wants it newer than the one under way', async (t) => {
    const { files } = new FakeStatsWorld(2).deps
    const disk = Promise.withResolvers<void>()
    const fileSystem = async (path: string) => {
      await disk.promise
      return await files.fileSystem(path)
    }
    const { world, engine } = setUp(t, 2, { files: { ...files, fileSystem } })
    const early = engine.ask(['usage'], signal)
    await world.clock.advance(1)
    const [same, newer] = [engine.ask(['usage'], signal), engine.ask(['usage'], signal, 0)]
    disk.resolve()
    assert.equal(await same, await early)
    assert.notEqual(await newer, await early)
  })

  test('takes another snapshot when a container came since, once', async (t) => {
    const { world, engine, snapshots } = setUp(t)
    await engine.ask(['usage'], signal)
    const [pod] = world.pods
    assert.ok(pod)
    const [main] = pod.containers
    assert.ok(main)
    world.pods = [{ ...pod, containers: [main, { ...main, id: 'c9', name: 'late' }] }]
    const { pods } = await engine.ask(['usage'], signal)
    assert.deepEqual(
      pods.flatMap(({ containers }) => containers.map(({ name }) => name)),
      ['late', main.name].toSorted(),
    )
    await engine.ask(['usage'], signal)
    assert.equal(snapshots(), 2)
    // What is ending, or is not started yet, is not waited for.
    world.pods = [{ ...pod, containers: [main, createInstance({ id: 'c10', name: 'init', state: 'exited' })] }]
    await engine.ask(['usage'], signal)
    assert.equal(snapshots(), 0)
  })

  test('reads little for an overview, and has rates for the first who asks for more', async (t) => {
    const { world, engine, pass } = setUp(t)
    const overview = await engine.ask(['overview'], signal)
    const few = world.cgroups.reads
    const [pod] = overview.pods
    assert.notEqual(pod?.cgroup?.sample.memory, undefined)
    assert.deepEqual(
      pod?.containers.map(({ cgroup }) => [cgroup?.sample.cpu === undefined, cgroup?.sample.memory]),
      pod?.containers.map(() => [false, undefined]),
    )
    await pass(9)
    const whole = await engine.ask(['usage'], signal)
    assert.ok(world.cgroups.reads - few > few * 1.2, `${few} files, then ${world.cgroups.reads - few}`)
    for (const { cgroup } of whole.pods.flatMap(({ containers }) => containers)) {
      assert.notEqual(cgroup?.sample.memory, undefined)
      assert.notEqual(cgroup?.nanoCores, undefined)
    }
    // Who wants less takes what there is.
    assert.equal(await engine.ask(['overview'], signal), whole)
  })

  test('looks at pods every half minute where only the node is asked for, and has their rates then', async (t) => {
    const { world, engine, pass } = setUp(t)
    const pods: number[] = []
    const reads: number[] = []
    for (let second = 0; second <= 60; second += 10) {
      const before = world.cgroups.reads
      pods.push((await engine.ask(['fileSystems'], signal)).pods.length)
      reads.push(world.cgroups.reads - before)
      await pass(11)
    }
    assert.deepEqual(pods, [1, 0, 0, 1, 0, 0, 1])
    assert.ok((reads[1] ?? 0) < (reads[0] ?? 0) / 2, reads.join())
    const { node, pods: measured } = engine.history.columns()
    assert.deepEqual([node.cpuCores.length, node.cpuCores.at(-1)], [3, 0])
    assert.deepEqual(
      Object.values(measured).map(({ cpuCores }) => cpuCores),
      [[null, 0, 0]],
    )
    const whole = await engine.ask(['usage'], signal)
    assert.notEqual(whole.pods[0]?.containers[0]?.cgroup?.nanoCores, undefined)
  })

  test('looks at the disk again after half a minute for readers, at once for new containers and for those who must know', async (t) => {
    const { world, engine, pass } = setUp(t)
    const lists = () => world.take().filter((each) => each.startsWith('list'))
    await engine.ask(['usage', 'recentDisk'], signal)
    assert.equal(lists().length, 1)
    await pass(30)
    const { pods } = await engine.ask(['usage', 'recentDisk'], signal)
    assert.deepEqual([lists(), pods[0]?.containers[0]?.rootfs?.bytes], [[], 4096])
    await pass(10)
    assert.equal(lists().length, 1)
    await engine.ask(['usage', 'disk'], signal, 0)
    assert.equal(lists().length, 1)
    const [pod] = world.pods
    assert.ok(pod)
    const [container] = pod.containers
    assert.ok(container)
    world.pods = [{ ...pod, containers: [{ ...container, id: 'c2' }] }]
    await pass(70)
    lists()
    await engine.ask(['usage', 'recentDisk'], signal)
    world.pods = [{ ...pod, containers: [{ ...container, id: 'c3' }] }]
    await engine.ask(['usage', 'recentDisk'], signal)
    assert.equal(lists().length, 2)
  })

  test('goes on with the parts that are still asked for', async (t) => {
    const { world, engine, pass } = setUp(t)
    await engine.ask(['usage', 'disk'], signal)
    await pass(59)
    await engine.ask(['usage'], signal)
    await pass(2)
    world.take()
    await pass(20)
    assert.deepEqual(world.take(), ['statfs /root', 'statfs /root'])
  })

  test('knows how much cpu is used from the second snapshot on', async (t) => {
    const { world, engine } = setUp(t)
    const first = await engine.ask(['usage'], signal)
    assert.deepEqual(
      [first.node.root.nanoCores, first.pods[0]?.containers[0]?.cgroup?.nanoCores],
      [undefined, undefined],
    )
    // A quarter of a core for ten seconds.
    world.cgroups.set('cpu', `${RECORDED_POD}/c1`, ['cpu.stat', 'usage_usec 3865176\n'])
    await world.clock.advance(10_000)
    const second = await engine.ask(['usage'], signal)
    assert.deepEqual([second.node.root.nanoCores, second.pods[0]?.containers[0]?.cgroup?.nanoCores], [0, 250_000_000])
  })

  test('keeps nothing of pods that are gone', async (t) => {
    const { world, engine, pass } = setUp(t)
    await engine.ask(['usage', 'network', 'disk', 'details'], signal)
    const before = engine.size
    world.pods = []
    await pass(11)
    // The root and the cgroup of all pods.
    assert.deepEqual([before > 5, engine.size, engine.snapshot()?.pods], [true, 2, []])
  })

  test('leaves out what does not run, and takes the newest of several instances', async (t) => {
    const { world, engine } = setUp(t)
    const [pod] = world.pods
    assert.ok(pod)
    const [main] = pod.containers
    assert.ok(main)
    const ended = createInstance({ id: 'c0', name: 'init', state: 'exited' })
    world.pods = [
      { ...pod, containers: [main, { ...main, id: 'old' }, ended] },
      { ...world.addPod('22222222-2222-3333-4444-555555555555', 'done'), containers: [ended] },
    ]
    const { pods } = await engine.ask(['usage'], signal)
    assert.deepEqual(
      pods.map(({ name, containers }) => [name, ...containers.map(({ id }) => id)]),
      [['web', 'c1']],
    )
  })

  test('asks the runtime for processes where pods have no cgroup of their own', async (t) => {
    const layout = { driver: 'cgroupfs', root: '/', perQos: false } as const
    const { world, engine } = setUp(t, 2, { layout })
    world.kernelFiles.set('/proc/109/cgroup', `0::${RECORDED_POD}/c1\n`)
    const { pods, node } = await engine.ask(['usage', 'network'], signal)
    assert.deepEqual(
      [pods[0]?.cgroup, pods[0]?.containers[0]?.cgroup?.path, pods[0]?.interfaces?.[0]?.rxBytes, node.system],
      [undefined, `${RECORDED_POD}/c1`, 100, []],
    )
    await world.clock.advance(10_000)
    await engine.ask(['usage', 'network'], signal)
    assert.deepEqual(
      world.take().filter((line) => /sandbox|container/.test(line)),
      ['sandbox s-web', 'container c1'],
    )
  })

  test('reads cgroups of the old kind too', async (t) => {
    const { engine } = setUp(t, 1)
    const { node, pods } = await engine.ask(['usage', 'details', 'network'], signal)
    assert.deepEqual(
      [node.root.sample.memory?.usageBytes, pods[0]?.containers[0]?.cgroup?.sample.memory?.rssBytes],
      [3_017_580_544, 21_188_608],
    )
  })

  test('does without what the runtime does not answer', async (t) => {
    const { world, engine } = setUp(t)
    world.failing = 'layers'
    const { node, pods } = await engine.ask(['usage', 'disk'], signal)
    const [main] = pods[0]?.containers ?? []
    assert.deepEqual([node.imageFs?.usedBytes, main?.rootfs, main?.logs?.bytes], [77, undefined, 8192])
    assert.deepEqual(world.warnings, ['cannot measure the disk, going on without'])
  })

  test('reports to the client that the node cannot be measured, and tries again', async (t) => {
    const { world, engine, pass } = setUp(t)
    world.failing = 'statfs'
    await assert.rejects(engine.ask(['usage'], signal), /no answer/)
    await pass(10)
    world.failing = ''
    await pass(11)
    assert.equal(engine.snapshot()?.pods.length, 1)
  })

  test('lets go of a client that leaves, and finishes the snapshot for the others', async (t) => {
    const { engine } = setUp(t)
    const leaving = new AbortController()
    const [left, stayed] = [engine.ask(['usage'], leaving.signal), engine.ask(['usage'], signal)]
    leaving.abort(new Error('gone'))
    await assert.rejects(left, /gone/)
    assert.equal((await stayed).pods.length, 1)
  })
})
