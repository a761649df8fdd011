import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createDividedPod } from '../../../test/builders/create-divided-pod.ts'
import { createMemoryPod, createTestMemory, showMemoryTable } from '../../../test/builders/create-memory-policy.ts'
import { placePod } from '../../../test/builders/place-pod.ts'
import { createPlacementPolicy } from '../../../test/builders/placement-hints.ts'
import { FakeMemoryNode } from '../../../test/fakes/fake-memory-node.ts'
import { parsePodUid } from '../../model/pod/pod.ts'
import { parseMemoryStateFile } from './memory-state-file.ts'
import type { PodMemory } from './pod-memory.ts'
import { UNPLACED_STATE } from './unplaced-memory.ts'

/** Two nodes with 10 GiB each. */
const POLICY = createTestMemory([10, 10])
const [a, b] = [parsePodUid('a'), parsePodUid('b')]
const pod = (uid: string, containers = 'main:6') => createMemoryPod(uid, containers)
const nodesOf = (memory: PodMemory, uid: typeof a) =>
  memory
    .blocksOf(uid, 'main')
    .flatMap(({ nodes }) => [...nodes])
    .join(',')

describe('MemoryAssignments', () => {
  test('gives each container memory of one node while there is some, and counts', async () => {
    const node = new FakeMemoryNode()
    const memory = await node.start(POLICY)
    assert.deepEqual(
      [await node.add(memory, pod('a')), await node.add(memory, pod('b')), await node.add(memory, pod('c'))],
      [true, true, false],
    )
    assert.equal(node.shown, 'a/main=0 b/main=1')
    assert.deepEqual(node.counted, ['given 1', 'given 1', 'rejected'])
  })

  test('gives memory of several nodes where one is too small', async () => {
    const node = new FakeMemoryNode()
    const memory = await node.start(POLICY)
    await node.add(memory, pod('a', 'main:12'))
    assert.equal(node.shown, 'a/main=0,1')
    assert.equal(await node.add(memory, pod('b')), true)
    assert.equal(node.shown, 'a/main=0,1 b/main=0,1')
  })

  test('makes no container before it is recorded where its memory is', async () => {
    const node = new FakeMemoryNode()
    const memory = await node.start(POLICY)
    node.file.failure = new Error('disk full')
    assert.equal(placePod(memory, pod('a')), undefined)
    await assert.rejects(memory.prepare(a, 'main'), /disk full/)
    assert.equal(await memory.prepare(b, 'main'), '')
    node.file.failure = undefined
    assert.equal(await memory.prepare(a, 'main'), '0')
    assert.ok(parseMemoryStateFile(node.file.text ?? '').assignments.has(a))
  })

  test('has a place in which all of a pod fits, or rejects it', async () => {
    const memory = await new FakeMemoryNode().start(POLICY)
    const policy = createPlacementPolicy('single-numa-node', 2, { scope: 'pod' })
    assert.equal(placePod(memory, pod('c', 'main:6 other:6'), policy)?.reason, 'TopologyAffinityError')
    assert.equal(placePod(memory, pod('a', 'main:4 other:4'), policy), undefined)
    assert.equal(placePod(memory, pod('b', 'main:4 other:4'), policy), undefined)
    assert.deepEqual([nodesOf(memory, a), nodesOf(memory, b)], ['0', '1'])
    // The hints do not say that it is impossible: the allocation does.
    assert.equal(placePod(memory, pod('c', 'main:3'), policy)?.reason, 'UnexpectedAdmissionError')
  })

  test('has nothing of a pod that is rejected', async () => {
    const memory = await new FakeMemoryNode().start(POLICY)
    assert.equal(placePod(memory, pod('a', 'main:6 other:6 third:6'))?.reason, 'UnexpectedAdmissionError')
    assert.equal(placePod(memory, pod('b', 'main:20')), undefined)
  })

  test('keeps what a pod has across a restart of the agent', async () => {
    const node = new FakeMemoryNode()
    const memory = await node.start(POLICY)
    await node.add(memory, pod('b'))
    await node.add(memory, pod('a', 'init:8 main:6'))
    const again = await node.start(POLICY)
    for (const each of node.pods.values()) again.adopt(each)
    assert.deepEqual([nodesOf(again, a), nodesOf(again, b)], ['1', '0'])
    assert.deepEqual(
      again.blocksOf(a, 'init').map(({ size }) => size),
      [2n * 2n ** 30n],
    )
    await node.run(again)
    assert.equal(node.file.aside.length, 0)
    assert.deepEqual(node.lines, [])
  })

  test('frees what ended pods had: at once, or once all that are wanted are known', async () => {
    const node = new FakeMemoryNode()
    const memory = await node.start(POLICY)
    await node.add(memory, pod('a'))
    await node.add(memory, pod('b'))
    memory.release(a)
    assert.equal(nodesOf(memory, a), '')
    node.end(a)
    node.end(b)
    const again = await node.start(POLICY)
    await node.run(again)
    assert.equal(nodesOf(again, b), '1')
    again.sourcesReady()
    await node.run(again)
    assert.equal(parseMemoryStateFile(node.file.text ?? '').assignments.size, 0)
  })

  describe('of pods with resources of their own', () => {
    const BY_POD = createPlacementPolicy('restricted', 2, { scope: 'pod', podLevel: true })
    const divided = createDividedPod('a', { memory: '8', containers: 'main:6 other' })

    test('is theirs as a whole: all containers have it from the same nodes', async () => {
      const node = new FakeMemoryNode()
      const memory = await node.start(POLICY, 'pod')
      await node.add(memory, divided, BY_POD)
      assert.equal(node.shown, 'a/main=0 a/other=0')
      assert.deepEqual(node.counted, ['pod 1 alone, 1 share'])
      assert.equal(await node.add(memory, pod('b'), BY_POD), true)
      assert.equal(nodesOf(memory, b), '1', 'there are 2 GiB left where the pod is')
      await node.run(memory)
      const record = parseMemoryStateFile(node.file.text ?? '')
      assert.equal(showMemoryTable(record.assignments), 'a: =0:8 main=0:6 other=0:2 b: main=1:6')
      memory.release(a)
      assert.equal(placePod(memory, pod('c', 'main:10')), undefined)
    })

    test('is only what containers ask for alone, when containers are placed', async () => {
      const node = new FakeMemoryNode()
      const memory = await node.start(POLICY, 'container')
      await node.add(memory, divided)
      assert.equal(node.shown, 'a/main=0 a/other=')
    })

    for (const [what, lose] of [
      ['the file', (text: string | undefined) => text],
      ['no file', () => undefined],
    ] as const) {
      test(`is found where it is, with ${what}`, async () => {
        const node = new FakeMemoryNode()
        const memory = await node.start(POLICY, 'pod')
        await node.add(memory, pod('b', 'main:4'))
        await node.add(memory, divided, BY_POD)
        await node.run(memory)
        assert.equal(node.shown, 'b/main=0 a/main=1 a/other=1')
        node.end(b)
        node.file.text = lose(node.file.text)
        const again = await node.start(POLICY, 'pod')
        for (const each of node.pods.values()) again.adopt(each)
        again.release(b)
        await node.run(again)
        const record = parseMemoryStateFile(node.file.text ?? '')
        assert.equal(showMemoryTable(record.assignments), 'a: =1:8 main=1:6 other=1:2')
        assert.equal(node.file.aside.length, 0)
      })
    }

    test('is free when pods are not placed as a whole any more', async () => {
      const node = new FakeMemoryNode()
      const memory = await node.start(POLICY, 'pod')
      await node.add(memory, divided, BY_POD)
      await node.run(memory)
      const again = await node.start(POLICY)
      for (const each of node.pods.values()) again.adopt(each)
      assert.equal(nodesOf(again, a), '')
      assert.equal(node.file.aside.length, 1)
    })
  })

  test('keeps the memory of a terminal pod until nothing of it runs', async () => {
    const node = new FakeMemoryNode()
    const memory = await node.start(POLICY)
    memory.sourcesReady()
    await node.add(memory, pod('a', 'main:20'))
    node.pods.delete(a)
    assert.equal(placePod(memory, pod('b'))?.reason, 'UnexpectedAdmissionError')
    node.running.clear()
    assert.equal(placePod(memory, pod('b')), undefined)
  })

  for (const [what, lose] of [
    ['a file that is broken', (text: string) => text.replace('"size":6442450944', '"size":6442450945')],
    ['a file that is half written', (text: string) => text.slice(0, 40)],
    ['no file', () => undefined],
    ['the file of another policy', () => UNPLACED_STATE],
  ] as const) {
    test(`finds what runs, with ${what}`, async () => {
      const node = new FakeMemoryNode()
      const memory = await node.start(POLICY)
      await node.add(memory, pod('a'))
      await node.add(memory, pod('b'))
      memory.release(a)
      node.end(a)
      await node.run(memory)
      node.file.text = lose(node.file.text ?? '')
      const again = await node.start(POLICY)
      for (const each of node.pods.values()) again.adopt(each)
      assert.equal(nodesOf(again, b), '1')
      await node.run(again)
      assert.ok(parseMemoryStateFile(node.file.text ?? '').assignments.has(b))
    })
  }

  test('sets a file aside that does not fit, and keeps what it can', async () => {
    const node = new FakeMemoryNode()
    const memory = await node.start(POLICY)
    await node.add(memory, pod('a'))
    await node.add(memory, pod('b'))
    await node.run(memory)
    const again = await node.start(createTestMemory([10, 4]))
    assert.deepEqual([nodesOf(again, a), nodesOf(again, b)], ['0', ''])
    assert.equal(node.file.aside.length, 1)
    assert.match(node.lines.join('\n'), /^error the record of which memory containers have does not fit/)
  })

  test('a pod that runs and has no memory left is reported, goes on, and is counted when there is some', async () => {
    const node = new FakeMemoryNode()
    const memory = await node.start(POLICY)
    await node.add(memory, pod('a'))
    node.file.text = undefined
    const again = await node.start(POLICY)
    // Comes before the one that runs is known.
    assert.equal(placePod(again, pod('b', 'main:20')), undefined)
    for (const each of node.pods.values()) again.adopt(each)
    assert.equal(nodesOf(again, a), '')
    assert.deepEqual(node.lines, ['error a pod that runs has memory that others were given too'])
    again.release(b)
    assert.equal(nodesOf(again, a), '0')
  })

  test('starts although the kernel says nothing of a container', async () => {
    const node = new FakeMemoryNode()
    await node.add(await node.start(POLICY), pod('a'))
    node.file.text = undefined
    const running = node.observed.get(a)
    assert.ok(running)
    node.running.clear()
    const memory = await node.start(POLICY)
    await memory.adoptRunning([running], new AbortController().signal)
    assert.deepEqual(node.lines, ['warn cannot see of which NUMA nodes a container has memory'])
    memory.adopt(pod('a'))
    assert.equal(nodesOf(memory, a), '0')
  })

  test('goes on recording when the disk was full', async () => {
    const node = new FakeMemoryNode()
    const memory = await node.start(POLICY)
    node.file.failure = new Error('disk full')
    placePod(memory, pod('a'))
    await node.run(memory)
    assert.deepEqual(new Set(node.lines), new Set(['error cannot record which memory containers have, will try again']))
    node.file.failure = undefined
    await node.run(memory, 10_000)
    assert.ok(parseMemoryStateFile(node.file.text ?? '').assignments.has(a))
    assert.equal(node.clock.sleeping, 0)
  })

  test('says what could be given away', async () => {
    const memory = await new FakeMemoryNode().start(createTestMemory([10, 10], [1]))
    const shown = memory
      .allocatable()
      .map(({ nodes, type, size }) => `${[...nodes].join(',')} ${type} ${size / 2n ** 30n}`)
    assert.deepEqual(shown, ['0 memory 10', '1 hugepages-2Mi 1', '1 memory 10'])
  })
})
