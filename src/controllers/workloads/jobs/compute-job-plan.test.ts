import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Job, JobSpec, JobStatus } from '../../../model/generated/api-groups.ts'
import type { Pod } from '../../../model/generated/core-v1.ts'
import { toApiTime } from '../../../model/text/api-time.ts'
import { livePod } from '../../../../test/builders/workloads.ts'
import type { Live } from '../../engine/live-object.ts'
import { computeJobPlan } from './compute-job-plan.ts'
import { formatIndexes, parseIndexes } from './index-set.ts'
import { INDEX, INDEX_FAILURES, TRACKING_FINALIZER } from './job-pods.ts'

const now = Date.UTC(2026, 0, 2)

function job(spec: Partial<JobSpec>, status: JobStatus = {}): Live<Job> {
  return {
    metadata: { name: 'j', namespace: 'default', uid: 'u', resourceVersion: '1' },
    spec: { template: { spec: { containers: [], restartPolicy: 'Never' } }, parallelism: 1, ...spec },
    status: { startTime: toApiTime(now - 60_000), ...status },
  }
}

/** A pod that is kept until it is counted, unless it was. */
function pod(
  name: string,
  phase: string,
  options: { readonly index?: number; readonly failures?: number; readonly isFree?: boolean } = {},
): Live<Pod> {
  const { index, failures, isFree = false } = options
  const annotations = {
    ...(index !== undefined && { [INDEX]: String(index) }),
    ...(failures !== undefined && { [INDEX_FAILURES]: String(failures) }),
  }
  const made = livePod({ name, annotations, creationTimestamp: '2020-01-01T00:00:00Z' }, { phase })
  return { ...made, metadata: { ...made.metadata, ...(!isFree && { finalizers: [TRACKING_FINALIZER] }) } }
}

function plan(of: Live<Job>, pods: readonly Live<Pod>[], failures: readonly number[] = []) {
  const { status, release, remove, create, afterMs } = computeJobPlan({ job: of, pods, failures, now })
  const names = (list: readonly Live<Pod>[]) => list.map(({ metadata }) => metadata.name)
  return {
    status,
    release: names(release),
    remove: names(remove),
    create: create.map(({ index }) => index ?? 'any'),
    afterMs,
    conditions: (status.conditions ?? []).map(({ type, reason }) => `${type} ${reason}`),
  }
}

describe('computeJobPlan()', () => {
  test('an ended pod is named before it is let go, and counted after that', () => {
    const first = plan(job({ completions: 3 }), [pod('a', 'Succeeded')])
    assert.deepEqual(first.status.uncountedTerminatedPods, { succeeded: ['a'] })
    assert.equal(first.status.succeeded, 0)
    assert.deepEqual(first.release, ['a'])
    const second = plan(job({ completions: 3 }, first.status), [pod('a', 'Succeeded', { isFree: true })])
    assert.deepEqual([second.status.succeeded, second.status.uncountedTerminatedPods], [1, {}])
  })

  test('a pod that was named and is still held is let go, and not named twice', () => {
    const of = job({ completions: 3 }, { uncountedTerminatedPods: { failed: ['a'] } })
    const { status, release } = plan(of, [pod('a', 'Failed')])
    assert.deepEqual([status.uncountedTerminatedPods, release], [{ failed: ['a'] }, ['a']])
  })

  const three = [pod('a', 'Running'), pod('b', 'Running'), pod('c', 'Pending')]
  for (const [name, spec, status, pods, expected] of [
    ['starts what may run at once', { completions: 5, parallelism: 3 }, {}, [], { create: 3, remove: 0 }],
    [
      'starts no more than are missing',
      { completions: 5, parallelism: 3 },
      { succeeded: 4 },
      [],
      { create: 1, remove: 0 },
    ],
    ['ends what is too much', { completions: 5, parallelism: 1 }, {}, three, { create: 0, remove: 2 }],
    ['a queue starts all', { parallelism: 3 }, {}, [], { create: 3, remove: 0 }],
    ['a queue starts none after a success', { parallelism: 3 }, { succeeded: 1 }, [three[0]], { create: 0, remove: 0 }],
    ['suspended', { completions: 5, parallelism: 3, suspend: true }, {}, three, { create: 0, remove: 3 }],
  ] as const) {
    test(name, () => {
      const made = plan(job(spec, status), pods as readonly Live<Pod>[])
      assert.deepEqual({ create: made.create.length, remove: made.remove.length }, expected)
    })
  }

  test('waits ten seconds after a failure, and twice as long after each more', () => {
    assert.equal(plan(job({ completions: 1 }), [], [now - 4000]).afterMs, 6000)
    assert.equal(plan(job({ completions: 1 }), [], [now - 9000, now - 4000]).afterMs, 16_000)
    assert.deepEqual(plan(job({ completions: 1 }), [], [now - 10_000]).create, ['any'])
  })

  test('takes the lowest free indexes, and removes doubled ones', () => {
    const spec = { completions: 5, parallelism: 3, completionMode: 'Indexed' }
    const status = { completedIndexes: '0' }
    assert.deepEqual(plan(job(spec, status), [pod('a', 'Running', { index: 2 })]).create, [1, 3])
    const doubled = plan(job(spec, status), [
      pod('a', 'Running', { index: 2 }),
      pod('b', 'Pending', { index: 2 }),
      pod('c', 'Running', { index: 9 }),
    ])
    assert.deepEqual(doubled.remove.toSorted(), ['b', 'c'])
  })

  test('the last failure of an index is kept until its successor exists', () => {
    const spec = {
      completions: 2,
      parallelism: 1,
      completionMode: 'Indexed',
      backoffLimitPerIndex: 2,
      backoffLimit: 99,
    }
    const failed = pod('a', 'Failed', { index: 0, failures: 0 })
    const first = plan(job(spec), [failed])
    assert.deepEqual([first.release, first.create], [[], [0]])
    const next = plan(job(spec), [failed, pod('b', 'Running', { index: 0, failures: 1 })])
    assert.deepEqual(next.release, ['a'])
    assert.equal(plan(job(spec), [pod('c', 'Failed', { index: 0, failures: 2 })]).status.failedIndexes, '0')
  })

  test('an index whose pod only ends because the Job fails has not failed', () => {
    const spec = {
      completions: 3,
      parallelism: 3,
      completionMode: 'Indexed',
      backoffLimitPerIndex: 0,
      maxFailedIndexes: 0,
    }
    const failing = plan(job(spec), [
      pod('a', 'Failed', { index: 1 }),
      pod('b', 'Running', { index: 0 }),
      pod('c', 'Running', { index: 2 }),
    ])
    assert.deepEqual(failing.conditions, ['FailureTarget MaxFailedIndexesExceeded'])
    assert.equal(failing.status.failedIndexes, '1')
  })

  test('first says how it ends, and is finished when the last pod is counted and gone', () => {
    const of = job({ completions: 1, backoffLimit: 0, parallelism: 2 })
    const failing = plan(of, [pod('a', 'Failed'), pod('b', 'Running')])
    assert.deepEqual(failing.conditions, ['FailureTarget BackoffLimitExceeded'])
    assert.deepEqual([failing.remove, failing.release.toSorted()], [['b'], ['a', 'b']])
    const over = plan({ ...of, status: failing.status }, [pod('a', 'Failed', { isFree: true })])
    assert.deepEqual(over.conditions, ['FailureTarget BackoffLimitExceeded', 'Failed BackoffLimitExceeded'])
    assert.equal(over.status.failed, 2)
  })

  test('ends at its deadline, and says when that will be', () => {
    assert.equal(plan(job({ completions: 1, activeDeadlineSeconds: 90 }), [pod('a', 'Running')]).afterMs, 30_000)
    const late = plan(job({ completions: 1, activeDeadlineSeconds: 60 }), [pod('a', 'Running')])
    assert.deepEqual(late.conditions, ['FailureTarget DeadlineExceeded'])
  })
})

describe('indexes', () => {
  for (const [text, indexes] of [
    ['', []],
    ['0', [0]],
    ['0,1', [0, 1]],
    ['0-2,4,6,7', [0, 1, 2, 4, 6, 7]],
  ] as const) {
    test(`"${text}"`, () => {
      assert.equal(formatIndexes(new Set(indexes)), text)
      assert.deepEqual([...parseIndexes(text, 10)], indexes)
    })
  }

  test('beyond the limit there are none', () => assert.deepEqual([...parseIndexes('1-9,x', 3)], [1, 2]))
})
