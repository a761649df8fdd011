import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { CriCallError } from '../../protocols/cri/cri-call-error.ts'
import { StatusResponse } from '../../protocols/cri/generated/runtime-v1.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { RuntimeHealth } from './runtime-health.ts'

const never = new AbortController().signal
const FINE = { RuntimeReady: true, NetworkReady: true }

/** A runtime whose status and connection the test sets. */
function setUp() {
  const clock = new FakeClock()
  const lines: string[] = []
  const say = (level: string) => (message: string) => void lines.push(`${level} ${message}`)
  const log: Logger = {
    error: say('error'),
    warn: say('warn'),
    info: say('info'),
    debug: say('debug'),
    child: () => log,
  }
  let answer: Record<string, boolean> | 'away' = FINE
  let asked = 0
  let change = Promise.withResolvers<void>()
  const connection = {
    connected: true,
    closed: false,
    nextChange: (signal: AbortSignal) =>
      Promise.race([
        change.promise,
        new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      ]),
  }
  const status = async () => {
    asked += 1
    if (answer === 'away') throw new CriCallError('status', 'Unavailable', 'no connection')
    const conditions = Object.entries(answer).map(([type, fine]) => ({
      type,
      status: fine,
      reason: fine ? '' : 'Broken',
      message: fine ? '' : 'it is broken',
    }))
    const runtimeHandlers = [{ name: '', features: { userNamespaces: true } }]
    return StatusResponse.fromPartial({ status: { conditions }, runtimeHandlers, features: {} })
  }
  let changes = 0
  const health = new RuntimeHealth({ client: { status, connection }, clock, log, onChange: () => void (changes += 1) })
  return {
    health,
    clock,
    lines,
    asked: () => asked,
    changes: () => changes,
    set: (next: typeof answer) => (answer = next),
    setConnected: (connected: boolean) => {
      connection.connected = connected
      const { resolve } = change
      change = Promise.withResolvers()
      resolve()
    },
  }
}

describe('RuntimeHealth', () => {
  test('knows what the runtime can do, also while it is away', async () => {
    const { health, set } = setUp()
    assert.deepEqual(health.abilities, { handlers: [], features: undefined })
    await health.check(never)
    const features = { userNamespaces: true, recursiveReadOnlyMounts: false }
    assert.deepEqual(health.abilities.handlers, [{ name: '', features }])
    set('away')
    await health.check(never)
    assert.deepEqual(health.abilities.handlers, [{ name: '', features }])
  })

  test('knows nothing good before it has asked', () => {
    const { health } = setUp()
    assert.deepEqual(
      [health.runtimeProblem, health.networkProblem],
      ['runtime was not asked yet', 'network state unknown'],
    )
  })

  const cases: readonly (readonly [string, Record<string, boolean>, string | undefined, string | undefined])[] = [
    ['all is fine', FINE, undefined, undefined],
    [
      'no network',
      { RuntimeReady: true, NetworkReady: false },
      undefined,
      'container runtime network not ready: NetworkReady=false reason:Broken message:it is broken',
    ],
    [
      'no runtime',
      { RuntimeReady: false, NetworkReady: true },
      'container runtime not ready: RuntimeReady=false reason:Broken message:it is broken',
      undefined,
    ],
    [
      'no word',
      {},
      'container runtime not ready: RuntimeReady=false reason:Unknown message:the runtime does not report it',
      'container runtime network not ready: NetworkReady=false reason:Unknown message:the runtime does not report it',
    ],
    ['others do not matter', { ...FINE, Other: false }, undefined, undefined],
  ]
  for (const [name, answer, runtimeProblem, networkProblem] of cases) {
    test(`judges the conditions: ${name}`, async () => {
      const { health, set } = setUp()
      set(answer)
      await health.check(never)
      assert.deepEqual([health.runtimeProblem, health.networkProblem], [runtimeProblem, networkProblem])
    })
  }

  test('keeps what it knows of the network while the runtime is away', async () => {
    const { health, set } = setUp()
    await health.check(never)
    set('away')
    await health.check(never)
    assert.equal(health.networkProblem, undefined)
    assert.match(health.runtimeProblem ?? '', /^container runtime is down: .*no connection/)
  })

  test('reports each change once', async () => {
    const { health, set, changes, lines } = setUp()
    await health.check(never)
    await health.check(never)
    assert.deepEqual([changes(), lines], [1, ['info node is ready']])
    set('away')
    await health.check(never)
    await health.check(never)
    set(FINE)
    await health.check(never)
    assert.deepEqual([changes(), lines.slice(1)], [3, ['warn node is not ready', 'info node is ready']])
  })

  test('asks every five seconds, and at once when the connection comes or goes', async () => {
    const { health, clock, asked, set, setConnected } = setUp()
    const stop = new AbortController()
    await health.check(never)
    const run = health.run(stop.signal)
    await clock.advance(0)
    const first = asked()
    await clock.advance(4999)
    assert.equal(asked(), first)
    await clock.advance(1)
    assert.equal(asked(), first + 1)
    set('away')
    setConnected(false)
    await clock.advance(0)
    assert.equal(asked(), first + 2)
    assert.notEqual(health.runtimeProblem, undefined)
    set(FINE)
    setConnected(true)
    await clock.advance(0)
    assert.equal(health.runtimeProblem, undefined)
    stop.abort(new Error('leave'))
    await run
    assert.equal(clock.sleeping, 0)
  })

  test('asks more often while the node does not get ready, but not for ever', async () => {
    const { health, clock, asked, set } = setUp()
    set({ RuntimeReady: true, NetworkReady: false })
    const stop = new AbortController()
    const run = health.run(stop.signal)
    await clock.advance(0)
    const first = asked()
    await clock.advance(1000)
    assert.equal(asked(), first + 5)
    set(FINE)
    await clock.advance(200)
    await clock.advance(4999)
    assert.equal(asked(), first + 6)
    set({ RuntimeReady: true, NetworkReady: false })
    await clock.advance(120_000)
    const late = asked()
    await clock.advance(10_000)
    assert.equal(asked(), late + 2)
    stop.abort(new Error('leave'))
    await run
    assert.equal(clock.sleeping, 0)
  })

  test('a runtime that is silent makes the node not ready only after a while, and that is reported', async () => {
    const { health, clock, set, changes } = setUp()
    assert.deepEqual(health.nodeProblems, [
      'container runtime status check may not have completed yet',
      'network state unknown',
    ])
    await health.check(never)
    assert.deepEqual(health.nodeProblems, [])
    set('away')
    await health.check(never)
    await clock.advance(29_999)
    await health.check(never)
    assert.deepEqual([health.nodeProblems, changes()], [[], 2])
    await clock.advance(1)
    await health.check(never)
    await health.check(never)
    assert.deepEqual([health.nodeProblems, changes()], [['container runtime is down'], 3])
    set({ RuntimeReady: false, NetworkReady: false })
    await health.check(never)
    assert.deepEqual(health.nodeProblems, [
      'container runtime not ready: RuntimeReady=false reason:Broken message:it is broken',
      'container runtime network not ready: NetworkReady=false reason:Broken message:it is broken',
    ])
  })

  test('passes on that the agent leaves', async () => {
    const { health, set, changes } = setUp()
    set('away')
    await assert.rejects(health.check(AbortSignal.abort(new Error('leave'))))
    assert.equal(changes(), 0)
  })
})
