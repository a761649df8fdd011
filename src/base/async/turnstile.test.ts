import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { Turnstile } from './turnstile.ts'

const never = new AbortController().signal

/** Work that ends when the test says so, and a record of who got in. */
function makeWork(entered: string[]) {
  const ends = new Map<string, () => void>()
  return {
    work: (name: string) => () =>
      new Promise<void>((resolve) => {
        entered.push(name)
        ends.set(name, resolve)
      }),
    end: (name: string) => ends.get(name)?.(),
  }
}

test('Turnstile lets in as many as there are places, important ones first, else by arrival', async () => {
  const clock = new FakeClock()
  const gate = new Turnstile({ places: 2, patienceMs: 1000, clock })
  const entered: string[] = []
  const { work, end } = makeWork(entered)
  const all = (
    [
      ['a', 0],
      ['b', 0],
      ['c', 0],
      ['d', 5],
      ['e', 0],
    ] as const
  ).map(([name, priority]) => gate.runInTurn(priority, work(name), never))
  await clock.advance(0)
  assert.deepEqual(entered, ['a', 'b'])
  for (const name of ['a', 'b', 'd', 'c']) {
    end(name)
    await clock.advance(0)
  }
  assert.deepEqual(entered, ['a', 'b', 'd', 'c', 'e'])
  end('e')
  await Promise.all(all)
  assert.equal(clock.sleeping, 0)
})

test('Turnstile does not let one that hangs keep the others out', async () => {
  const clock = new FakeClock()
  const gate = new Turnstile({ places: 1, patienceMs: 1000, clock })
  const entered: string[] = []
  const { work, end } = makeWork(entered)
  const hung = gate.runInTurn(0, work('hung'), never)
  const other = gate.runInTurn(0, work('other'), never)
  await clock.advance(999)
  assert.deepEqual(entered, ['hung'])
  await clock.advance(1)
  assert.deepEqual(entered, ['hung', 'other'])
  end('other')
  end('hung')
  await Promise.all([hung, other])
  const third = gate.runInTurn(0, work('third'), never)
  const fourth = gate.runInTurn(0, work('fourth'), never)
  await clock.advance(0)
  assert.deepEqual(entered, ['hung', 'other', 'third'], 'the place of the hung one is given back once only')
  end('third')
  await third
  await clock.advance(0)
  end('fourth')
  await fourth
})

test('Turnstile keeps the others out for as long as its patience is extended, also when that fails', async () => {
  const clock = new FakeClock()
  const asked: PromiseWithResolvers<void>[] = []
  const extendPatience = async () => {
    const question = Promise.withResolvers<void>()
    asked.push(question)
    await question.promise
  }
  const gate = new Turnstile({ places: 1, patienceMs: 1000, extendPatience, clock })
  const entered: string[] = []
  const { work, end } = makeWork(entered)
  const all = ['a', 'b', 'c'].map((name) => gate.runInTurn(0, work(name), never))
  await clock.advance(5000)
  assert.deepEqual([entered, asked.length], [['a'], 1])
  asked[0]?.resolve()
  await clock.advance(1000)
  assert.deepEqual([entered, asked.length], [['a', 'b'], 2])
  asked[1]?.reject(new Error('no answer'))
  await clock.advance(0)
  assert.deepEqual(entered, ['a', 'b', 'c'])
  for (const name of entered) end(name)
  await Promise.all(all)
  assert.equal(clock.sleeping, 0)
})

test('Turnstile forgets one that gives up waiting', async () => {
  const clock = new FakeClock()
  const gate = new Turnstile({ places: 1, patienceMs: 1000, clock })
  const entered: string[] = []
  const { work, end } = makeWork(entered)
  const first = gate.runInTurn(0, work('first'), never)
  const controller = new AbortController()
  const second = gate.runInTurn(0, work('second'), controller.signal)
  controller.abort(new Error('gone'))
  await assert.rejects(second, /gone/)
  end('first')
  await first
  assert.deepEqual([entered, gate.waiting], [['first'], 0])
})

test('Turnstile does not let one that hangs keep its place because it was aborted', async () => {
  const clock = new FakeClock()
  const gate = new Turnstile({ places: 1, patienceMs: 1000, clock })
  const entered: string[] = []
  const { work, end } = makeWork(entered)
  const gaveUp = new AbortController()
  const hung = gate.runInTurn(0, work('hung'), gaveUp.signal)
  const other = gate.runInTurn(0, work('other'), never)
  await clock.advance(0)
  gaveUp.abort(new Error('removed'))
  await clock.advance(1000)
  assert.deepEqual(entered, ['hung', 'other'])
  for (const name of entered) end(name)
  await Promise.all([hung, other])
  assert.equal(clock.sleeping, 0)
})

test('Turnstile with limits lets in more while that gets more done, and fewer when it does not', async () => {
  const clock = new FakeClock()
  const gate = new Turnstile({ places: 2, adapt: { least: 2, most: 12 }, patienceMs: 60_000, clock })
  // A runtime that does six at a time, and no more: with more each takes longer.
  let [inside, most] = [0, 0]
  const work = async () => {
    inside += 1
    most = Math.max(most, inside)
    await clock.sleep(100 * Math.max(1, inside / 6), never)
    inside -= 1
  }
  const all = Array.from({ length: 600 }, () => gate.runInTurn(0, work, never))
  const seen = new Map<number, number>()
  await clock.advance(0)
  while (gate.waiting > 0) {
    seen.set(gate.places, (seen.get(gate.places) ?? 0) + 1)
    await clock.advance(50)
  }
  await clock.advance(1000)
  await Promise.all(all)
  const [usual] = [...seen].toSorted((a, b) => b[1] - a[1])[0] ?? []
  assert.ok(usual !== undefined && usual >= 5 && usual <= 7, JSON.stringify([...seen]))
  assert.ok(most <= 9, `${most} at once`)
  assert.equal(clock.sleeping, 0)
})
