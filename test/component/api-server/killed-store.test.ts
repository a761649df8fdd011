import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../../src/base/async/clock.ts'
import { openApiStore } from '../../../src/api-server/store/open-api-store.ts'
import type { ApiStore } from '../../../src/api-server/store/api-store.ts'
import { silentLogger } from '../../../src/base/telemetry/silent-logger.ts'

const ROUNDS = 25
const CHILD = join(import.meta.dirname, 'storm-child.ts')

interface Outcome {
  /** The last value that was acknowledged, and the one that was tried when the end came. */
  readonly acknowledged: ReadonlyMap<string, string>
  readonly tried: ReadonlyMap<string, string>
  readonly version: number
}

/** Lets a child write until it is killed in the middle of it. */
async function storm(folder: string, round: number): Promise<Outcome> {
  const journal = join(folder, 'journal')
  const child = spawn(process.execPath, [CHILD, folder, String(round), journal], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'close')
  await Promise.race([once(child.stdout, 'data'), ended])
  await sleep(10 + Math.random() * 60)
  child.kill('SIGKILL')
  await ended
  assert.equal(child.signalCode, 'SIGKILL', 'the child ended by itself')
  const acknowledged = new Map<string, string>()
  const tried = new Map<string, string>()
  let version = 0
  // The last line may be cut off.
  for (const line of readFileSync(journal, 'utf8').split('\n').slice(0, -1)) {
    const [word, key = '', value = '', number] = line.split(' ')
    if (word === 'try') tried.set(key, value)
    else {
      acknowledged.set(key, value)
      version = Math.max(version, Number(number))
    }
  }
  return { acknowledged, tried, version }
}

function valuesOf(store: ApiStore, key: string): readonly [string, string] {
  const [resource = '', name = ''] = key.split('/')
  const valueIn = (namespace: string) => (store.get({ resource, namespace, name })?.object.spec ?? '-') as string
  return [valueIn('left'), valueIn('right')]
}

describe('a store whose process is killed during a storm of writes', { concurrency: 2 }, () => {
  for (const half of ['first', 'second']) {
    test(`has every acknowledged write and no half one, ${ROUNDS} times (${half} half)`, async (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'deckhand-storm-'))
      t.after(() => rmSync(folder, { recursive: true }))
      let version = 0
      let acknowledgements = 0
      for (let round = 0; round < ROUNDS; round++) {
        const outcome = await storm(folder, round)
        using store = await openApiStore(
          { folder, sealedResources: ['secrets'] },
          { clock: systemClock, log: silentLogger },
        )
        acknowledgements += outcome.acknowledged.size
        for (const [key, tried] of outcome.tried) {
          const [left, right] = valuesOf(store, key)
          assert.equal(left, right, `${key} is half there`)
          const allowed = new Set([outcome.acknowledged.get(key), tried])
          // Nothing acknowledged yet in this round: what was there before it is right too.
          if (outcome.acknowledged.has(key))
            assert.ok(allowed.has(left), `${key} is ${left}, expected ${[...allowed].join(' or ')}`)
        }
        assert.ok(store.version >= outcome.version, 'an acknowledged version is lost')
        assert.ok(store.version >= version, 'versions went back')
        version = store.version
      }
      assert.ok(acknowledgements > ROUNDS, 'the storms were too short to show anything')
    })
  }
})
