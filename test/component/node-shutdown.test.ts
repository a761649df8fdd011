import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AbortScope } from '../../src/base/async/abort-scope.ts'
import { parsePodUid } from '../../src/model/pod/pod.ts'
import { FakeLogind } from '../fakes/fake-logind.ts'
import { makeTemporaryFolder } from '../fixtures/make-temporary-folder.ts'
import { startAgent, until } from './create-agent.ts'
import { createWantedPod, createWorld, running } from './create-world.ts'

const UID = parsePodUid('u-1')
const never = new AbortController().signal
const REPORTED = {
  reason: 'Terminated',
  message: 'Pod was terminated in response to imminent node shutdown.',
}

describe('a pod on a node that shuts down', () => {
  test('ends within the time it gets, as failed, with the reason', async () => {
    await using world = await createWorld({ programOf: () => ({ onTerm: 'ignore' }) })
    await using agent = await startAgent(world, { sources: ['api'] })
    agent.setPods([createWantedPod('u-1', { terminationGracePeriodSeconds: 60 })], 'api')
    await agent.settle()
    let isOver = false
    const ended = agent.workers.shutDown(UID, 4, never).then(() => (isOver = true))
    await until(() => world.cri.requests('stopContainer').length === 1, 'the stop')
    assert.equal(Number(world.cri.requests('stopContainer')[0]?.timeout), 4)
    await agent.pass(3500)
    assert.equal(isOver, false)
    await agent.pass(500)
    await ended
    assert.deepEqual(running(world), [])
    const { phase, reason, message, conditions } = agent.statusOf('u-1') ?? {}
    assert.deepEqual({ phase, reason, message }, { phase: 'Failed', ...REPORTED })
    const { type, status, reason: why } = conditions?.find((each) => each.type === 'DisruptionTarget') ?? {}
    assert.deepEqual([type, status, why], ['DisruptionTarget', 'True', 'TerminationByKubelet'])
  })

  for (const [source, isRunAgain] of [
    ['api', false],
    ['file', true],
  ] as const) {
    test(`of the source "${source}" ${isRunAgain ? 'runs again' : 'never runs again'} when the agent next starts`, async () => {
      await using world = await createWorld()
      const pods = [createWantedPod('u-1')]
      {
        await using agent = await startAgent(world, { sources: [source] })
        agent.setPods(pods, source)
        await agent.settle()
        await agent.workers.shutDown(UID, 4, never)
        await agent.pass(120_000)
        assert.deepEqual(running(world), [], 'not before that')
      }
      await using agent = await startAgent(world, { sources: [source] })
      agent.setPods(pods, source)
      await agent.pass(20_000)
      assert.deepEqual(running(world), isRunAgain ? ['main'] : [])
    })
  }

  for (const [source, isRunAgain] of [
    ['api', false],
    ['file', true],
  ] as const) {
    test(`of the source "${source}" ${isRunAgain ? 'runs again' : 'is terminal'} when the machine stays after all`, async () => {
      await using world = await createWorld({ programOf: () => ({ onTerm: 143 }) })
      const logind = new FakeLogind()
      await using agent = await startAgent(world, {
        sources: [source],
        root: makeTemporaryFolder(),
        loops: ['node shutdown'],
        config: { shutdownGracePeriod: '4s' },
        logind,
      })
      await until(() => logind.isWatched, 'the agent watches logind')
      const early = [createWantedPod('u-1')]
      agent.setPods(early, source)
      await agent.settle()
      logind.announce(true)
      await until(() => running(world).length === 0, 'the pod ends')
      const all = [...early, createWantedPod('u-2')]
      agent.setPods(all, source)
      await agent.settle()
      assert.deepEqual([running(world), agent.statusOf('u-2')?.reason], [[], 'NodeShutdown'])
      logind.announce(false)
      await agent.pass(20_000)
      assert.deepEqual(running(world), isRunAgain ? ['main', 'main'] : [])
      const phases = ['u-1', 'u-2'].map((uid) => agent.statusOf(uid)?.phase)
      assert.deepEqual(phases, isRunAgain ? ['Running', 'Running'] : ['Failed', 'Failed'])
    })
  }

  test('of a manifest runs again although it still ends when the machine stays after all', async () => {
    await using world = await createWorld({ programOf: () => ({ onTerm: 'ignore' }) })
    await using agent = await startAgent(world, { sources: ['file'] })
    agent.setPods([createWantedPod('u-1', { terminationGracePeriodSeconds: 60 })], 'file')
    await agent.settle()
    using scope = new AbortScope(never)
    const ended = assert.rejects(agent.workers.shutDown(UID, 4, scope.signal))
    await until(() => world.cri.requests('stopContainer').length === 1, 'the stop')
    scope.abort(new Error('cancelled'))
    await ended
    agent.workers.runAgain()
    await agent.pass(20_000)
    assert.deepEqual([running(world), agent.statusOf('u-1')?.phase], [['main'], 'Running'])
    assert.equal(world.cri.requests('createContainer').length, 2)
  })

  test('of which nothing is known any more is no reason to wait', async () => {
    await using world = await createWorld()
    await using agent = await startAgent(world)
    await agent.workers.shutDown(parsePodUid('u-9'), 4, never)
  })
})
