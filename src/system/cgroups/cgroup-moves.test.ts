import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { describe, test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { CgroupMoves, openIdleMove } from './cgroup-moves.ts'

const alone = { othersWait: false }

/** A kernel whose moves wait for so long when there was none for a while. */
function setUp({ waitMs = 10, fails = false } = {}) {
  const clock = new FakeClock()
  const counts = { opened: 0, moved: 0, closed: 0 }
  let movedAt = -Infinity
  const move = async () => {
    counts.moved += 1
    if (fails) throw new Error('no')
    if (clock.monotonic() - movedAt > 15) await clock.sleep(waitMs, new AbortController().signal)
    movedAt = clock.monotonic()
  }
  const open = async () => {
    counts.opened += 1
    return { move, [Symbol.asyncDispose]: async () => void (counts.closed += 1) }
  }
  return { clock, moves: new CgroupMoves({ open, clock }), counts }
}

describe('CgroupMoves', () => {
  test('makes a move when work begins and every few milliseconds until the last work ends', async () => {
    const { clock, moves, counts } = setUp()
    const [first, second] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()]
    const results = [moves.keepQuick(() => first.promise, alone), moves.keepQuick(() => second.promise, alone)]
    await clock.advance(10)
    assert.equal(counts.moved, 1)
    await clock.advance(70)
    assert.equal(counts.moved, 11)
    first.resolve('a')
    await clock.advance(70)
    assert.equal(counts.moved, 21)
    second.resolve('b')
    assert.deepEqual(await Promise.all(results), ['a', 'b'])
    await clock.advance(1000)
    assert.deepEqual(counts, { opened: 1, moved: 21, closed: 1 })
    assert.equal(clock.sleeping, 0)
  })

  test('makes no move for work behind which others wait', async () => {
    const { clock, moves, counts } = setUp()
    const [crowded, last] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()]
    const first = moves.keepQuick(() => crowded.promise, { othersWait: true })
    await clock.advance(200)
    assert.deepEqual([counts, clock.sleeping], [{ opened: 0, moved: 0, closed: 0 }, 0])
    const second = moves.keepQuick(() => last.promise, alone)
    await clock.advance(80)
    assert.ok(counts.moved > 5, `${counts.moved} moves`)
    last.resolve('b')
    await second
    await clock.advance(1000)
    assert.deepEqual([counts.opened, counts.closed, clock.sleeping], [1, 1, 0])
    crowded.resolve('a')
    assert.equal(await first, 'a')
  })

  test('goes on without a pause when work follows work', async () => {
    const { clock, moves, counts } = setUp()
    for (let round = 0; round < 10; round += 1) {
      const work = Promise.withResolvers<void>()
      const end = moves.keepQuick(() => work.promise, alone)
      await clock.advance(10)
      work.resolve()
      await end
    }
    assert.equal(counts.opened, 1)
    await clock.advance(1000)
    assert.deepEqual([counts.closed, clock.sleeping], [1, 0])
  })

  test('makes one move where the kernel does not wait for it', async () => {
    const { clock, moves, counts } = setUp({ waitMs: 0 })
    const work = Promise.withResolvers<void>()
    const end = moves.keepQuick(() => work.promise, alone)
    await clock.advance(100)
    assert.deepEqual([counts, clock.sleeping], [{ opened: 1, moved: 1, closed: 1 }, 0])
    work.resolve()
    await end
  })

  test('leaves work alone that hangs, and begins again with the next', async () => {
    const { clock, moves, counts } = setUp()
    const [hung, next] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const results = [moves.keepQuick(() => hung.promise, alone)]
    await clock.advance(6000)
    assert.deepEqual([counts.closed, clock.sleeping], [1, 0])
    const { moved } = counts
    results.push(moves.keepQuick(() => next.promise, alone))
    await clock.advance(100)
    assert.ok(counts.moved > moved + 5)
    hung.resolve()
    next.resolve()
    await Promise.all(results)
    await clock.advance(100)
    assert.deepEqual([counts.opened, counts.closed, clock.sleeping], [2, 2, 0])
  })

  test('tries no more where it cannot be done, until the next work; work that fails ends it too', async () => {
    const { clock, moves, counts } = setUp({ fails: true })
    const work = Promise.withResolvers<void>()
    const first = moves.keepQuick(() => work.promise, alone)
    await clock.advance(100)
    assert.deepEqual([counts, clock.sleeping], [{ opened: 1, moved: 1, closed: 1 }, 0])
    work.resolve()
    await first
    await assert.rejects(
      moves.keepQuick(() => Promise.reject(new Error('no')), alone),
      /no/,
    )
    await clock.advance(100)
    assert.deepEqual([counts.opened, counts.closed, clock.sleeping], [2, 2, 0])
  })
})

describe('openIdleMove()', () => {
  test('writes its own pid to its own cgroup', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'moves-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'cgroup.procs')
    writeFileSync(file, '')
    let asked: readonly string[] = []
    const folderOf = (...about: readonly string[]) => {
      asked = about
      return folder
    }
    {
      await using own = await openIdleMove({ folderOf })
      await own.move()
    }
    assert.equal(readFileSync(file, 'utf8'), String(process.pid))
    assert.equal(asked[0], 'memory')
    assert.ok(readFileSync('/proc/self/cgroup', 'utf8').includes(`:${asked[1]}`))
  })

  test('makes no file, and says that it could not', async () => {
    await assert.rejects(openIdleMove({ folderOf: () => '/nonexistent' }), /ENOENT/)
  })
})
