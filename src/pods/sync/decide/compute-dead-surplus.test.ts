import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createInstance, createObservedPod } from '../../../../test/builders/create-observed-pod.ts'
import { parsePodUid } from '../../../model/pod/pod.ts'
import { computeDeadSurplus, type PodWithRemains } from './compute-dead-surplus.ts'

/** A pod with containers, newest first: "name age" for dead ones, "name running". The time is 1000. */
function pod(uid: string, hasEnded: boolean, ...containers: readonly string[]): PodWithRemains {
  return {
    hasEnded,
    observed: createObservedPod({
      uid: parsePodUid(uid),
      containers: containers.map((text) => {
        const [name = '', age = ''] = text.split(' ')
        const isRunning = age === 'running'
        return createInstance({
          id: `${uid} ${text}`,
          name,
          state: isRunning ? 'running' : 'exited',
          createdAt: isRunning ? 1000 : 1000 - Number(age),
        })
      }),
    }),
  }
}

describe('computeDeadSurplus()', () => {
  for (const [name, pods, limit, expected] of [
    ['as many as may be', [pod('a', true, 'main 1', 'side 2')], 2, []],
    ['one too many: the oldest goes', [pod('a', true, 'main 1'), pod('b', true, 'main 9')], 1, ['b main 9']],
    [
      'each container keeps the same number first',
      [pod('a', true, 'main 1', 'main 2', 'main 3', 'main 4'), pod('b', true, 'main 50')],
      4,
      ['a main 3', 'a main 4'],
    ],
    ['none may stay', [pod('a', true, 'main 1', 'main 2')], 0, ['a main 1', 'a main 2']],
    [
      'a pod that goes on keeps the newest of what does not run',
      [pod('a', false, 'main 30'), pod('b', false, 'main running', 'main 20')],
      0,
      ['b main 20'],
    ],
    ['what runs is not counted', [pod('a', false, 'main running', 'side running', 'side 1')], 1, []],
    ['young ones are not counted', [pod('a', true, 'main 1', 'side 0')], 1, []],
  ] as const) {
    test(name, () => {
      const surplus = computeDeadSurplus(pods, { limit, createdBefore: 999 })
      assert.deepEqual([...surplus.values()].flatMap((ids) => [...ids]).sort(), expected)
    })
  }
})
