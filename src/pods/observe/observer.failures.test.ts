import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { addRunning, addSandbox } from '../../../test/fakes/fake-cri-pods.ts'
import { observing, slowRelists } from '../../../test/fakes/observing.ts'
import { parsePodUid } from '../../model/pod/pod.ts'
import { CriCallError } from '../../protocols/cri/cri-call-error.ts'

const ONE = parsePodUid('u-1')
const TWO = parsePodUid('u-2')

describe('Observer, when the runtime fails,', () => {
  test('skips what vanishes between the list and the question', async () => {
    await using world = await observing()
    const { fake, observer } = world
    addRunning(fake, addSandbox(fake, ONE), 'main')
    fake.script.fail('containerStatus', 'NotFound', 'gone')
    const pod = await observer.refresh(ONE)
    assert.deepEqual([pod?.sandboxes.length, pod?.containers.length], [1, 0])
    fake.script.fail('podSandboxStatus', 'NotFound', 'gone')
    addSandbox(fake, TWO)
    assert.equal(await observer.refresh(TWO), undefined)
    assert.deepEqual(world.changes, [ONE])
  })

  test('sees all other pods, says what it could not read and reads it the next time', async () => {
    await using world = await observing()
    const { fake, observer, clock } = world
    for (const uid of [ONE, TWO]) addRunning(fake, addSandbox(fake, uid), 'main')
    fake.script.fail('containerStatus', 'Internal', 'broken', 1)
    await assert.rejects(observer.relist(), (error: AggregateError) => {
      assert.deepEqual([error.message, error.errors.length], ['Cannot read 1 of 2 pods', 1])
      return true
    })
    assert.equal(observer.uids().length, 1)
    assert.equal(observer.lastRelistAt, clock.now())
    await observer.relist()
    assert.deepEqual([...observer.uids()].sort(), [ONE, TWO])
  })

  for (const large of [['listContainers'], ['listPodSandbox'], ['listPodSandbox', 'listContainers']] as const) {
    test(`asks for the pods one by one where ${large.join(' and ')} of everything cannot be sent`, async () => {
      const refuse = (method: string, request: { readonly filter?: object | undefined }) => {
        if (request.filter === undefined && large.some((name) => name === method))
          throw new CriCallError(method, 'ResourceExhausted', 'Received message larger than max (17000000 vs 16777216)')
      }
      await using world = await observing((runtime) => ({
        ...runtime,
        listPodSandbox: async (request, signal) => {
          refuse('listPodSandbox', request)
          return await runtime.listPodSandbox(request, signal)
        },
        listContainers: async (request, signal) => {
          refuse('listContainers', request)
          return await runtime.listContainers(request, signal)
        },
      }))
      const { fake, observer, changes, tooLarge } = world
      const first = addRunning(fake, addSandbox(fake, ONE), 'main')
      addRunning(fake, addSandbox(fake, TWO), 'main')
      await observer.relist()
      assert.deepEqual([observer.uids().toSorted(), tooLarge.count], [[ONE, TWO], 1])
      assert.equal(observer.get(ONE)?.containers.length, 1)
      changes.length = 0
      fake.exitContainer(first, 3)
      await observer.relist()
      assert.deepEqual(changes, [ONE])
      // One that is too large by itself is kept as it was known, and holds up no other.
      const asked = large.some((name) => name === 'listContainers') ? 1 : 2
      fake.script.fail('listContainers', 'ResourceExhausted', 'larger than max', asked)
      await assert.rejects(observer.relist(), /Cannot read 1 of 2 pods/)
      assert.deepEqual(observer.uids().toSorted(), [ONE, TWO])
    })
  }

  for (const short of ['empty', 'cut short'] as const) {
    test(`keeps what lists leave out that are ${short}, and hears of changes meanwhile`, async () => {
      await using world = await observing()
      const { fake, observer, changes, omitted } = world
      const sandboxes = [ONE, TWO].map((uid) => addSandbox(fake, uid))
      const [first = '', second = ''] = sandboxes.map((sandbox) => addRunning(fake, sandbox, 'main'))
      await observer.relist()
      changes.length = 0
      const keep = (entries: readonly object[]) => (short === 'empty' ? [] : entries.slice(0, 1))
      fake.script.alter('listPodSandbox', ({ items }) => ({ items: keep(items) }))
      fake.script.alter('listContainers', ({ containers }) => ({ containers: keep(containers) }))
      await observer.relist()
      await observer.refresh(TWO)
      assert.deepEqual([changes, observer.uids().toSorted()], [[], [ONE, TWO]])
      assert.ok(omitted.includes(second))
      fake.exitContainer(second, 3)
      await observer.relist()
      assert.deepEqual(
        observer.get(TWO)?.containers.map(({ id, state, exitCode, name }) => ({ id, state, exitCode, name })),
        [{ id: second, state: 'exited', exitCode: 3, name: 'main' }],
      )
      fake.runtime.removeContainer(second)
      fake.runtime.stopSandbox(sandboxes[1] ?? '')
      fake.runtime.removeSandbox(sandboxes[1] ?? '')
      await observer.relist()
      assert.deepEqual([observer.uids(), observer.ownerOf(first)], [[ONE], ONE])
    })
  }

  test('keeps what it knows when the lists fail', async () => {
    await using world = await observing()
    const { fake, observer, clock } = world
    addSandbox(fake, ONE)
    await observer.relist()
    const relistAt = clock.now()
    await clock.advance(5)
    fake.script.fail('listPodSandbox', 'Unavailable', 'away', 2)
    await assert.rejects(observer.relist(), { code: 'Unavailable' })
    await assert.rejects(observer.refresh(ONE), { code: 'Unavailable' })
    assert.deepEqual([observer.uids(), observer.lastRelistAt], [[ONE], relistAt])
    await observer.relist()
    assert.equal(observer.lastRelistAt, relistAt + 5)
  })

  test('lastRelistAt is when the relist began', async () => {
    const { wrap, answered, release } = slowRelists()
    await using world = await observing(wrap)
    const { observer, clock } = world
    const began = clock.now()
    const relist = observer.relist()
    await answered
    await clock.advance(100)
    assert.equal(observer.lastRelistAt, undefined)
    release()
    await relist
    assert.equal(observer.lastRelistAt, began)
  })
})
