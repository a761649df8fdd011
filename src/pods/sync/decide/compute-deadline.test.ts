import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createObservedSandbox } from '../../../../test/builders/create-observed-pod.ts'
import { createPod } from '../../../../test/builders/create-pod.ts'
import { computeDeadlineOverride, deadlineAt } from './compute-deadline.ts'

const NOON = Date.UTC(2026, 0, 1, 12)
const timeOf = (ms: number) => new Date(ms).toISOString()
const limited = createPod({ spec: { activeDeadlineSeconds: 30 } })

describe('deadlineAt()', () => {
  const status = { startTime: timeOf(NOON) }
  const made = (agoMs: number, isAdopted?: boolean) => createObservedSandbox({ createdAt: NOON - agoMs, isAdopted })
  const adopted = { sandboxes: [made(5000, true), made(9000, true), made(60_000)] }
  const rows = [
    ['is not there for a pod without a limit', createPod(), { status, observed: undefined }, undefined],
    ['is not known before the start', limited, { status: undefined, observed: undefined }, undefined],
    ['counts from the start', limited, { status, observed: undefined }, 30_000],
    [
      'has nothing to do with the time of a sandbox of this agent',
      limited,
      { status, observed: { sandboxes: [made(60_000)] } },
      30_000,
    ],
    ['counts from the oldest sandbox of an earlier agent', limited, { status, observed: adopted }, 21_000],
    ['knows that one before there is a status', limited, { status: undefined, observed: adopted }, 21_000],
    [
      'counts from the start that the API has',
      createPod({ spec: limited.spec, status: { startTime: timeOf(NOON - 2000) } }),
      { status: undefined, observed: adopted },
      28_000,
    ],
  ] as const
  for (const [what, pod, start, afterMs] of rows)
    test(what, () => assert.equal(deadlineAt(pod, start), afterMs === undefined ? undefined : NOON + afterMs))
})

test('computeDeadlineOverride() fails a pod when its time is up, unless it ended before', () => {
  const start = { status: { startTime: timeOf(NOON) }, observed: undefined }
  assert.equal(computeDeadlineOverride(limited, start, NOON + 29_999), undefined)
  assert.equal(computeDeadlineOverride(limited, start, NOON + 30_000)?.reason, 'DeadlineExceeded')
  const ended = { ...start, status: { ...start.status, phase: 'Succeeded' as const } }
  assert.equal(computeDeadlineOverride(limited, ended, NOON + 30_000), undefined)
})
