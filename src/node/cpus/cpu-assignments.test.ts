import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { createPinnedPod, createTestPolicy } from '../../../test/builders/create-cpu-policy.ts'
import { createDividedPod } from '../../../test/builders/create-divided-pod.ts'
import { createPlacementPolicy } from '../../../test/builders/placement-hints.ts'
import { MACHINES } from '../../../test/builders/cpu-machines.ts'
import { createPod } from '../../../test/builders/create-pod.ts'
import { placePod } from '../../../test/builders/place-pod.ts'
import { FakeCpuNode, runFor } from '../../../test/fakes/fake-cpu-node.ts'
import { parseCpuSet } from '../../model/resources/cpu-set.ts'
import { parsePodUid } from '../../model/pod/pod.ts'
import type { PodUid } from '../../model/pod/pod.ts'
import { computeExclusiveCount } from './choose/compute-exclusive-count.ts'
import { formatCpuStateFile } from './cpu-state-file.ts'
import { toCpuState } from './cpu-state.ts'

/** CPUs 0-7, two threads each: 0 and 4 are one core. CPU 0 is reserved. */
const POLICY = createTestPolicy(MACHINES['one socket'], '0')
const STRICT = createTestPolicy(MACHINES['one socket'], '0', { strictReservation: true })
const shared = (uid: string) => createPod({ metadata: { uid, name: uid } })
const pinned = (uid: string, cpu = '2') => createPinnedPod(uid, `main:${cpu}`)
const a = parsePodUid('a')
const b = parsePodUid('b')
const s = parsePodUid('s')

describe('CpuAssignments', () => {
  test('gives CPUs, moves the others out of their way, and gives them back', async () => {
    const node = new FakeCpuNode()
    const cpus = await node.start(POLICY)
    cpus.sourcesReady()
    await node.add(cpus, shared('s'))
    await node.add(cpus, pinned('a'))
    await runFor(cpus, node)
    assert.equal(node.shown, 's/main=0,2-4,6-7 a/main=1,5')
    assert.deepEqual([cpus.hasExclusive(a), cpus.hasExclusive(s)], [true, false])
    assert.deepEqual([cpus.exclusiveOf(a, 'main'), cpus.exclusiveOf(s, 'main')], [[1, 5], []])
    assert.deepEqual(cpus.allocatable(), [1, 2, 3, 4, 5, 6, 7])
    assert.deepEqual(cpus.stats(), { free: 5, exclusive: 2, exclusiveByNode: new Map([[0, 2]]) })
    node.end(cpus, a)
    await runFor(cpus, node)
    assert.deepEqual(node.updates, ['s/main 0,2-4,6-7', 's/main 0-7'])
    assert.equal(
      node.file,
      formatCpuStateFile({ policyName: 'static', podLevel: false, ...toCpuState(POLICY, new Map()) }),
    )
  })

  test('asks the runtime only for what changed', async () => {
    const node = new FakeCpuNode()
    const cpus = await node.start(POLICY)
    await node.add(cpus, shared('s'))
    await node.add(cpus, pinned('a'))
    await runFor(cpus, node, 60_000)
    assert.deepEqual(node.updates, ['s/main 0,2-4,6-7'])
    const again = await node.start(POLICY)
    for (const pod of node.pods.values()) again.adopt(pod)
    node.reads = 0
    await runFor(again, node, 60_000)
    assert.deepEqual([node.updates.length, node.reads], [1, 2], 'after a restart each is read once')
  })

  test('tries again what failed, and the others do not wait for it', async () => {
    const node = new FakeCpuNode()
    const cpus = await node.start(POLICY)
    for (const uid of ['s', 't']) await node.add(cpus, shared(uid))
    node.stubborn.add('s/main')
    await node.add(cpus, pinned('a'))
    await runFor(cpus, node)
    assert.equal(node.shown, 's/main=0-7 t/main=0,2-4,6-7 a/main=1,5')
    node.stubborn.clear()
    await runFor(cpus, node, 10_000)
    assert.equal(node.shown, 's/main=0,2-4,6-7 t/main=0,2-4,6-7 a/main=1,5')
    assert.equal(node.lines.at(-1), 'info container runs on other CPUs')
    assert.match(node.lines.join('\n'), /^warn cannot move a container to other CPUs, will try again$/m)
  })

  test('makes no container before it is recorded whose CPUs these are', async () => {
    const node = new FakeCpuNode()
    const cpus = await node.start(POLICY)
    node.failsToWrite = true
    assert.equal(placePod(cpus, pinned('a')), undefined)
    await assert.rejects(cpus.prepare(a, 'main'), /disk full/)
    assert.deepEqual(await cpus.prepare(s, 'main'), { cpus: '0,2-4,6-7', exclusive: false })
    node.failsToWrite = false
    assert.deepEqual(await cpus.prepare(a, 'main'), { cpus: '1,5', exclusive: true })
    assert.match(node.file ?? '', /"a":{"main":"1,5"}/)
  })

  test('rejects what it does not have, and counts', async () => {
    const node = new FakeCpuNode()
    const cpus = await node.start(POLICY)
    await node.add(cpus, pinned('a', '6'))
    assert.equal(placePod(cpus, pinned('b'))?.reason, 'UnexpectedAdmissionError')
    assert.deepEqual(node.counted, ['given near', 'rejected'])
  })

  test('keeps what a pod has that was admitted before the agent started, and has not run yet', async () => {
    const node = new FakeCpuNode()
    const cpus = await node.start(POLICY)
    placePod(cpus, pinned('a'))
    await cpus.prepare(a, 'main')
    const again = await node.start(POLICY)
    placePod(again, pinned('b'))
    placePod(again, pinned('a'))
    assert.deepEqual([again.cpusOf(a, 'main'), again.cpusOf(b, 'main')], ['1,5', '2,6'])
  })

  test('forgets pods that ended while no agent ran, once all that are wanted are known', async () => {
    const node = new FakeCpuNode()
    const cpus = await node.start(POLICY)
    await node.add(cpus, pinned('a'))
    node.pods.clear()
    node.running.clear()
    const again = await node.start(POLICY)
    await runFor(again, node)
    assert.equal(again.stats().exclusive, 2)
    again.sourcesReady()
    await runFor(again, node)
    assert.equal(again.stats().exclusive, 0)
  })

  test('keeps the CPUs of a terminal pod until nothing of it runs', async () => {
    const node = new FakeCpuNode()
    const cpus = await node.start(POLICY)
    cpus.sourcesReady()
    await node.add(cpus, pinned('a', '6'))
    node.pods.delete(a)
    assert.equal(placePod(cpus, pinned('b', '6'))?.reason, 'UnexpectedAdmissionError')
    node.running.clear()
    assert.equal(placePod(cpus, pinned('b', '6')), undefined)
  })

  describe('of pods with resources of their own', () => {
    const WHOLE = createTestPolicy(MACHINES['one socket'], '0', { podLevel: 'pod' })
    const BY_POD = createPlacementPolicy('restricted', 1, { scope: 'pod', podLevel: true })
    const divided = (uid: string) => createDividedPod(uid, { containers: 'main:2 other' })

    test('gives them as a whole; only those that have CPUs alone run without a quota', async () => {
      const node = new FakeCpuNode()
      const cpus = await node.start(WHOLE)
      cpus.sourcesReady()
      await node.add(cpus, shared('s'))
      await node.add(cpus, divided('a'), BY_POD)
      await runFor(cpus, node)
      assert.equal(node.shown, 's/main=0,3-4,7 a/main=1,5 a/other=2,6')
      assert.deepEqual(await cpus.prepare(a, 'main'), { cpus: '1,5', exclusive: true })
      assert.deepEqual(await cpus.prepare(a, 'other'), { cpus: '2,6', exclusive: false })
      assert.equal(cpus.hasExclusive(a), false, 'the pod has a quota for those that share')
      assert.deepEqual(cpus.exclusiveOf(a, 'other'), [2, 6])
      assert.deepEqual([cpus.stats().exclusive, node.counted], [4, ['pod 1 alone, 1 share']])
      assert.match(
        node.file ?? '',
        /"entries":{"a":{"main":"1,5","other":"2,6"}},"podEntries":{"a":{"cpuSet":"1-2,5-6"}}/,
      )
      node.end(cpus, a)
      await runFor(cpus, node)
      assert.equal(node.shown, 's/main=0-7')
    })

    test('gives nothing that a container does not ask for alone, when containers are placed', async () => {
      const node = new FakeCpuNode()
      const cpus = await node.start(createTestPolicy(MACHINES['one socket'], '0', { podLevel: 'container' }))
      await node.add(cpus, divided('a'))
      await runFor(cpus, node)
      assert.equal(node.shown, 'a/main=1,5 a/other=0,2-4,6-7')
      assert.deepEqual([cpus.hasExclusive(a), (await cpus.prepare(a, 'main')).exclusive], [false, true])
    })

    test('rejects and counts', async () => {
      const node = new FakeCpuNode()
      const cpus = await node.start(WHOLE)
      const pod = createDividedPod('a', { cpu: '2', containers: 'main:2 other' })
      assert.equal(placePod(cpus, pod, { ...BY_POD, kind: 'best-effort' })?.reason, 'EmptyPodSharedPoolError')
      assert.equal(placePod(cpus, pod, BY_POD)?.reason, 'TopologyAffinityError')
      assert.deepEqual(node.counted, ['pod rejected'])
    })

    for (const [what, lose] of [
      ['the file', (text: string | undefined) => text],
      ['no file', () => undefined],
    ] as const) {
      test(`finds what runs, with ${what}: nothing moves`, async () => {
        const node = new FakeCpuNode()
        const cpus = await node.start(WHOLE)
        await node.add(cpus, pinned('b'))
        await node.add(cpus, divided('a'), BY_POD)
        node.end(cpus, b)
        await runFor(cpus, node)
        const before = node.shown
        node.file = lose(node.file)
        const again = await node.start(WHOLE)
        for (const pod of node.pods.values()) again.adopt(pod)
        await runFor(again, node)
        assert.equal(node.shown, before)
        assert.deepEqual([again.stats().exclusive, again.hasExclusive(a), node.setAside], [4, false, 0])
        assert.equal((await again.prepare(a, 'other')).exclusive, false)
      })
    }

    test('lets go of them when pods are not placed as a whole any more', async () => {
      const node = new FakeCpuNode()
      const cpus = await node.start(WHOLE)
      await node.add(cpus, divided('a'), BY_POD)
      await runFor(cpus, node)
      const again = await node.start(POLICY)
      for (const pod of node.pods.values()) again.adopt(pod)
      await runFor(again, node)
      assert.equal(node.shown, 'a/main=0-7 a/other=0-7')
      assert.equal(node.file?.includes('podEntries'), false)
    })
  })

  for (const [what, lose] of [
    ['a file that is broken', (text: string) => text.replace('"1,5"', '"2,6"')],
    ['a file that is half written', (text: string) => text.slice(0, 40)],
    ['no file', () => undefined],
    ['the file of another policy', () => '{"policyName":"none","defaultCpuSet":"","checksum":1353318690}'],
  ] as const) {
    test(`finds what runs, with ${what}: nothing moves, and no other pod gets it`, async () => {
      const node = new FakeCpuNode()
      const cpus = await node.start(POLICY)
      await node.add(cpus, shared('s'))
      await node.add(cpus, pinned('a'))
      await runFor(cpus, node)
      const [before, record] = [node.shown, node.file]
      node.file = lose(record ?? '')
      node.updates.length = 0
      const again = await node.start(POLICY)
      // A new pod comes before the one that runs is known.
      assert.equal(placePod(again, pinned('b')), undefined)
      await runFor(again, node)
      assert.equal(node.shown, before.replace('0,2-4,6-7', '0,3-4,7'))
      for (const pod of node.pods.values()) again.adopt(pod)
      await runFor(again, node)
      assert.equal(node.shown, before.replace('0,2-4,6-7', '0,3-4,7'))
      assert.deepEqual([again.cpusOf(a, 'main'), again.cpusOf(b, 'main')], ['1,5', '2,6'])
    })
  }

  test('starts although the runtime says nothing of a container', async () => {
    const node = new FakeCpuNode()
    await node.add(await node.start(POLICY), pinned('a'))
    node.file = undefined
    node.mute.add('a/main')
    const cpus = await node.start(POLICY)
    assert.deepEqual(node.lines, ['warn cannot see on which CPUs a container runs'])
    assert.equal(placePod(cpus, pinned('b')), undefined)
  })

  test('gives a pod that ran before there was such a policy its CPUs, without a restart', async () => {
    const node = new FakeCpuNode()
    node.file = '{"policyName":"none","defaultCpuSet":"","checksum":1353318690}'
    for (const pod of [shared('s'), pinned('a')]) {
      const { uid } = pod.metadata
      node.pods.set(uid, pod)
      node.running.set(`${uid}/main`, { uid, name: 'main', cpus: '0-7' })
    }
    const cpus = await node.start(POLICY)
    for (const pod of node.pods.values()) cpus.adopt(pod)
    await runFor(cpus, node)
    assert.equal(node.shown, 's/main=0,2-4,6-7 a/main=1,5')
    assert.deepEqual(node.updates.toSorted(), ['a/main 1,5 alone', 's/main 0,2-4,6-7'])
  })

  test('goes on with a pod whose CPUs are reserved now, on those that all share', async () => {
    const node = new FakeCpuNode()
    await node.add(await node.start(POLICY), pinned('a', '6'))
    const cpus = await node.start(createTestPolicy(MACHINES['one socket'], '0-3'))
    for (const pod of node.pods.values()) cpus.adopt(pod)
    cpus.sourcesReady()
    await runFor(cpus, node)
    assert.equal(node.shown, 'a/main=0-7')
    assert.equal(node.setAside, 1)
    assert.match(node.lines.join('\n'), /error a pod that runs has no CPUs for itself any more/)
  })

  test('gives a pod whose CPUs are reserved now others, also such as seemed to be those of another pod', async () => {
    const node = new FakeCpuNode()
    const before = await node.start(POLICY)
    await node.add(before, pinned('a', '7'))
    await node.add(before, shared('s'))
    assert.equal(node.shown, 'a/main=1-7 s/main=0')
    node.pods.set(a, pinned('a', '1'))
    const cpus = await node.start(createTestPolicy(MACHINES['one socket'], '1-7'))
    for (const pod of node.pods.values()) cpus.adopt(pod)
    cpus.sourcesReady()
    await runFor(cpus, node)
    assert.equal(node.shown, 'a/main=0 s/main=1-7')
    assert.doesNotMatch(node.lines.join('\n'), /no CPUs for itself/)
  })

  test('leaves the reserved CPUs to those that share, when there are no others', async () => {
    const node = new FakeCpuNode()
    const cpus = await node.start(STRICT)
    await node.add(cpus, shared('s'))
    assert.equal(cpus.cpusOf(s, 'main'), '1-7')
    await node.add(cpus, pinned('a', '7'))
    await runFor(cpus, node)
    assert.equal(node.shown, 's/main=0 a/main=1-7')
  })
})

interface Step {
  readonly act: 'add' | 'end' | 'restart' | 'break' | 'lose' | 'run'
  readonly pod: string
  readonly cpu: string
}

const steps = fc.array(
  fc.record<Step>({
    act: fc.constantFrom('add', 'add', 'end', 'restart', 'break', 'lose', 'run'),
    pod: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    cpu: fc.constantFrom('1', '2', '3', '4', '500m'),
  }),
  { maxLength: 14 },
)

test('whatever is started, ended and lost: containers with CPUs for themselves are alone on them', async () => {
  await fc.assert(
    fc.asyncProperty(steps, fc.constantFrom(POLICY, STRICT), async (plan, policy) => {
      const node = new FakeCpuNode()
      let cpus = await node.start(policy)
      cpus.sourcesReady()
      for (const { act, pod, cpu } of plan) {
        const uid = parsePodUid(pod)
        if (act === 'add' && !node.pods.has(uid)) await node.add(cpus, pinned(pod, cpu))
        if (act === 'end') node.end(cpus, uid)
        if (act === 'run') await runFor(cpus, node)
        if (act === 'break') node.file = node.file?.slice(0, -3)
        if (act === 'lose') node.file = undefined
        if (act === 'restart' || act === 'break' || act === 'lose') {
          cpus = await node.start(policy)
          for (const known of node.pods.values()) cpus.adopt(known)
          cpus.sourcesReady()
        }
        checkAlone(node)
      }
      await runFor(cpus, node)
      checkShared(node)
    }),
    { numRuns: 60 },
  )
})

/** Never two that have their own on one CPU. */
function checkAlone(node: FakeCpuNode): void {
  const own = [...node.running].filter(([, { uid, name }]) => countOf(node, uid, name) > 0)
  const all = own.flatMap(([, { cpus }]) => parseCpuSet(cpus))
  assert.equal(new Set(all).size, all.length, node.shown)
}

/** And once everything is in its place, no other container either. */
function checkShared(node: FakeCpuNode): void {
  checkAlone(node)
  const own = new Set<number>()
  const rest = new Set<number>()
  for (const { uid, name, cpus } of node.running.values())
    for (const cpu of parseCpuSet(cpus)) (countOf(node, uid, name) > 0 ? own : rest).add(cpu)
  assert.equal(own.isDisjointFrom(rest), true, node.shown)
}

function countOf(node: FakeCpuNode, uid: PodUid, name: string): number {
  const pod = node.pods.get(uid)
  const container = pod?.spec.containers.find((each) => each.name === name)
  return pod === undefined || container === undefined ? 0 : computeExclusiveCount(pod, container, 'off')
}
