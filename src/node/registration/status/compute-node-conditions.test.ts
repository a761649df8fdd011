import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { NodeCondition } from '../../../model/generated/core-v1.ts'
import { computeNodeConditions } from './compute-node-conditions.ts'

const THEN = '2026-01-01T00:00:00Z'
const NOW = '2026-01-01T00:01:00Z'
const QUIET = { pressures: { memory: false, disk: false, pid: false }, problems: [] }
const PRESSED = { pressures: { memory: true, disk: true, pid: true }, problems: ['no runtime'] }

function condition(type: string, status: string, words: string, since: string = NOW): NodeCondition {
  const [reason = '', message = ''] = words.split(': ')
  return { type, status, reason, message, lastHeartbeatTime: NOW, lastTransitionTime: since }
}

const quiesce = (since?: string) => [
  condition('MemoryPressure', 'False', 'KubeletHasSufficientMemory: kubelet has sufficient memory available', since),
  condition('DiskPressure', 'False', 'KubeletHasNoDiskPressure: kubelet has no disk pressure', since),
  condition('PIDPressure', 'False', 'KubeletHasSufficientPID: kubelet has sufficient PID available', since),
  condition('Ready', 'True', 'KubeletReady: kubelet is posting ready status', since),
]

describe('computeNodeConditions()', () => {
  test('a new node: pressures are reported, readiness is not', () => {
    assert.deepEqual(computeNodeConditions([], QUIET, NOW), {
      conditions: quiesce(),
      events: ['NodeHasSufficientMemory', 'NodeHasNoDiskPressure', 'NodeHasSufficientPID'],
    })
  })

  test('nothing new: only the heartbeat moves on', () => {
    const { conditions: before } = computeNodeConditions([], QUIET, THEN)
    assert.deepEqual(computeNodeConditions(before, QUIET, NOW), { conditions: quiesce(THEN), events: [] })
  })

  test('everything goes wrong: all change, and are reported', () => {
    const { conditions: before } = computeNodeConditions([], QUIET, THEN)
    assert.deepEqual(computeNodeConditions(before, PRESSED, NOW), {
      conditions: [
        condition('MemoryPressure', 'True', 'KubeletHasInsufficientMemory: kubelet has insufficient memory available'),
        condition('DiskPressure', 'True', 'KubeletHasDiskPressure: kubelet has disk pressure'),
        condition('PIDPressure', 'True', 'KubeletHasInsufficientPID: kubelet has insufficient PID available'),
        condition('Ready', 'False', 'KubeletNotReady: no runtime'),
      ],
      events: ['NodeHasInsufficientMemory', 'NodeHasDiskPressure', 'NodeHasInsufficientPID', 'NodeNotReady'],
    })
  })

  test('and well again', () => {
    const { conditions: before } = computeNodeConditions([], PRESSED, THEN)
    assert.deepEqual(computeNodeConditions(before, QUIET, NOW), {
      conditions: quiesce(),
      events: ['NodeHasSufficientMemory', 'NodeHasNoDiskPressure', 'NodeHasSufficientPID', 'NodeReady'],
    })
  })

  test('Ready takes new words without having changed, pressures keep theirs', () => {
    const before = computeNodeConditions([], PRESSED, THEN).conditions.map((c) => ({ ...c, message: 'old words' }))
    const { conditions, events } = computeNodeConditions(before, { ...PRESSED, problems: ['no network'] }, NOW)
    assert.deepEqual(
      [conditions.map(({ message, lastTransitionTime }) => [message, lastTransitionTime]), events],
      [
        [
          ['old words', THEN],
          ['old words', THEN],
          ['old words', THEN],
          ['no network', THEN],
        ],
        [],
      ],
    )
  })

  test('several problems are listed, each once', () => {
    const { conditions } = computeNodeConditions([], { ...QUIET, problems: ['a', 'b', 'a'] }, NOW)
    assert.equal(conditions.at(-1)?.message, '[a, b]')
  })

  test('those of others stay, and all keep their places', () => {
    const other = { type: 'NetworkUnavailable', status: 'False' }
    const ready = { type: 'Ready', status: 'Unknown' }
    const { conditions } = computeNodeConditions([ready, other], QUIET, NOW)
    assert.deepEqual(
      conditions.map(({ type, status }) => `${type}=${status}`),
      ['Ready=True', 'NetworkUnavailable=False', 'MemoryPressure=False', 'DiskPressure=False', 'PIDPressure=False'],
    )
  })
})
