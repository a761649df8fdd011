import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { computeBehaviour, pickTime } from './compute-behaviour.ts'
import type { RuledContainer } from './compute-behaviour.ts'
import type { Behaviour, RuleMatch } from './simulation-options.ts'

const NEVER = { leastMs: 0, mostMs: 0 }
const USUAL: Behaviour = {
  pullTime: NEVER,
  startTime: NEVER,
  startFailure: undefined,
  exitsAfter: undefined,
  exitCode: 0,
  readyAfter: NEVER,
  cpuCores: 0,
  memoryBytes: 0,
  ignoresTerm: false,
}
const CONTAINER: RuledContainer = {
  namespace: 'shop',
  pod: 'web-1',
  uid: 'u-1',
  container: 'main',
  image: 'registry.test/team/app:1',
  labels: { app: 'web' },
}

const codeOf = (matches: readonly RuleMatch[], container = CONTAINER) =>
  computeBehaviour(
    matches.map((match, index) => ({ match, behaviour: { exitCode: index + 1 } })),
    USUAL,
    container,
  ).exitCode

describe('computeBehaviour()', () => {
  for (const [match, fits] of [
    [{}, true],
    [{ namespace: 'shop' }, true],
    [{ namespace: 'sho' }, false],
    [{ pod: 'web-*' }, true],
    [{ pod: 'db-*' }, false],
    [{ image: '*/app:*' }, true],
    [{ image: 'registry.test/*/app:1' }, true],
    [{ image: '*app*app*' }, false],
    [{ pod: 'web-1*web-1' }, false],
    [{ labels: { app: 'web' } }, true],
    [{ labels: { app: 'web', tier: 'x' } }, false],
    [{ pod: 'web-*', container: 'side' }, false],
    [{ share: 0 }, false],
    [{ share: 1 }, true],
  ] as const) {
    test(`${JSON.stringify(match)} ${fits ? 'matches' : 'does not match'}`, () => {
      assert.equal(codeOf([match]), fits ? 1 : 0)
    })
  }

  test('the first rule that matches counts', () => {
    assert.equal(codeOf([{ pod: 'db-*' }, { pod: 'web-*' }, {}]), 2)
  })

  test('a share is that part of pods, and a pod is always in it or never', () => {
    const uids = Array.from({ length: 1000 }, (_, index) => `uid-${index}`)
    const inside = uids.filter((uid) => codeOf([{ share: 0.3 }], { ...CONTAINER, uid }) === 1)
    assert.ok(inside.length > 230 && inside.length < 370, String(inside.length))
    assert.deepEqual(
      uids.filter((uid) => codeOf([{ share: 0.3 }], { ...CONTAINER, uid }) === 1),
      inside,
    )
  })

  test('a time is picked from its range', () => {
    assert.deepEqual(
      [0, 0.5, 1].map((chance) => pickTime({ leastMs: 100, mostMs: 300 }, chance)),
      [100, 200, 300],
    )
  })
})
