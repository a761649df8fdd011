import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { MetricSet } from './metric-set.ts'

async function lines(set: MetricSet): Promise<readonly string[]> {
  const { body } = await set.render('text')
  return body.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
}

describe('MetricSet', () => {
  test('shows what is counted and what is read, by name', async () => {
    const set = new MetricSet()
    set.counter({ name: 'b_total', help: 'B.' }).inc(2)
    set.readOne({ name: 'c', help: 'C.' }, () => 3)
    set.readCounter({ name: 'a_total', help: 'A.' }, () => 1)
    assert.deepEqual(await lines(set), ['a_total 1', 'b_total 2', 'c 3'])
    assert.deepEqual([...set.stabilities], [['ALPHA', 3]])
  })

  test('reads rows at each scrape: those that are gone are not shown, of equal ones the last is', async () => {
    const set = new MetricSet()
    const row = (a: string, b: string, value: number) => ({ labels: { b, a }, value })
    let rows = [row('1', '2', 3), row('2', '1', 4), row('1', '2', 5)]
    set.read({ name: 'c', help: 'C.', labels: ['a', 'b'] }, () => rows)
    assert.deepEqual(await lines(set), ['c{a="1",b="2"} 5', 'c{a="2",b="1"} 4'])
    rows = []
    assert.deepEqual(await lines(set), [])
  })

  test('what several metrics read is computed once for each scrape', async () => {
    const set = new MetricSet()
    let computed = 0
    const read = set.oncePerScrape(() => (computed += 1))
    set.readOne({ name: 'a', help: 'A.' }, read)
    set.readOne({ name: 'b', help: 'B.' }, () => read() * 10)
    assert.deepEqual(await lines(set), ['a 1', 'b 10'])
    assert.deepEqual(await lines(set), ['a 2', 'b 20'])
  })
})
