import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../../test/builders/create-pod.ts'
import { computeContainerGrace, computePodGrace } from './compute-grace.ts'
import type { KillCause } from './pod-actions.ts'

interface Said {
  readonly spec?: number | bigint
  readonly deletion?: number | bigint
}

const podWith = ({ spec, deletion }: Said) =>
  createPod({
    metadata: { deletionGracePeriodSeconds: deletion },
    spec: { terminationGracePeriodSeconds: spec },
  })

describe('computePodGrace()', () => {
  const rows: readonly (readonly [string, Said & { recorded?: number; override?: number }, number])[] = [
    ['nothing said: the spec', { spec: 30 }, 30],
    ['nothing said, not even in the spec', {}, 1],
    ['a spec of zero', { spec: 0 }, 1],
    ['the API', { spec: 30, deletion: 10 }, 10],
    ['the API may be longer than the spec', { spec: 30, deletion: 60 }, 60],
    ['the agent', { spec: 30, override: 5 }, 5],
    ['the agent is shorter than the API', { spec: 30, deletion: 10, override: 5 }, 5],
    ['the agent is longer than the API', { spec: 30, deletion: 10, override: 20 }, 10],
    ['a zero of the API', { spec: 30, deletion: 0 }, 1],
    ['a zero of the API, and the agent asks for a grace', { spec: 30, deletion: 0, override: 20 }, 20],
    ['a zero of the agent', { spec: 30, override: 0 }, 1],
    ['for ever, by the spec', { spec: 9223372036854775807n }, 2147483647],
    ['for ever, by the API', { spec: 30, deletion: 9223372036854775807n }, 2147483647],
    ['the agent is shorter than for ever', { deletion: 9223372036854775807n, override: 5 }, 5],
    ['recorded before: nothing new', { spec: 30, recorded: 10 }, 10],
    ['recorded before: the API is shorter', { spec: 30, recorded: 10, deletion: 5 }, 5],
    ['recorded before: the API is longer', { spec: 30, recorded: 10, deletion: 20 }, 10],
    ['recorded before: the agent is shorter', { spec: 30, recorded: 10, deletion: 20, override: 3 }, 3],
    ['recorded before: the agent is longer', { spec: 30, recorded: 10, override: 60 }, 10],
  ]
  for (const [name, { recorded, override, ...said }, seconds] of rows) {
    test(name, () => assert.equal(computePodGrace(podWith(said), { recorded, override }), seconds))
  }
})

describe('computeContainerGrace()', () => {
  const rows: readonly (readonly [
    string,
    Said & { liveness?: number; startup?: number; cause?: KillCause },
    number,
  ])[] = [
    ['the spec', { spec: 30 }, 30],
    ['nothing', {}, 2],
    ['the API before the spec', { spec: 30, deletion: 7 }, 7],
    ['a liveness probe', { spec: 30, liveness: 60, cause: 'liveness' }, 60],
    ['a startup probe', { spec: 30, startup: 5, cause: 'startup' }, 5],
    ['a probe that says nothing', { spec: 30, startup: 5, cause: 'liveness' }, 30],
    ['a probe that was not the cause', { spec: 30, liveness: 60, startup: 5, cause: 'changed' }, 30],
    ['the API before a probe', { spec: 30, deletion: 7, liveness: 60, cause: 'liveness' }, 7],
  ]
  for (const [name, { liveness, startup, cause, ...said }, seconds] of rows) {
    test(name, () => {
      const container = createContainer({
        livenessProbe: { terminationGracePeriodSeconds: liveness },
        startupProbe: { terminationGracePeriodSeconds: startup },
      })
      assert.equal(computeContainerGrace(podWith(said), cause && { container, cause }), seconds)
    })
  }
})
