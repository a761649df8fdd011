import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createPod } from '../../../test/builders/create-pod.ts'
import { waitForFreshNode } from './wait-for-fresh-node.ts'

const pod = (name: string) => createPod({ metadata: { name } })

describe('waitForFreshNode()', () => {
  test('hands on at once what nothing is against', () => {
    const emitted: string[][] = []
    const emit = waitForFreshNode({
      wantsFreshNode: () => false,
      refresh: () => assert.fail('nobody has to be asked'),
      emit: (pods) => void emitted.push(pods.map(({ metadata }) => metadata.name)),
    })
    emit([pod('a')])
    emit([])
    assert.deepEqual(emitted, [['a'], []])
  })

  for (const [name, end] of [
    ['is answered', (asked: PromiseWithResolvers<void>) => asked.resolve()],
    ['fails', (asked: PromiseWithResolvers<void>) => asked.reject(new Error('gone'))],
  ] as const) {
    test(`asks once, and hands on the newest set when that ${name}`, async () => {
      const emitted: string[][] = []
      const asked = Promise.withResolvers<void>()
      let asks = 0
      const emit = waitForFreshNode({
        wantsFreshNode: ({ metadata }) => metadata.name === 'picky',
        refresh: () => {
          asks += 1
          return asked.promise
        },
        emit: (pods) => void emitted.push(pods.map(({ metadata }) => metadata.name)),
      })
      emit([pod('picky')])
      emit([pod('picky'), pod('b')])
      emit([pod('b')])
      assert.deepEqual([asks, emitted], [1, []])
      end(asked)
      await new Promise((resolve) => setImmediate(resolve))
      assert.deepEqual(emitted, [['b']])
      emit([pod('c')])
      assert.deepEqual([asks, emitted], [1, [['b'], ['c']]])
    })
  }
})
