import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import type { ContainerState, ContainerStatus } from '../../model/generated/core-v1.ts'
import { computeLegalStatuses } from './compute-legal-statuses.ts'

const status = (state: ContainerState): ContainerStatus => ({
  name: 'main',
  ready: false,
  restartCount: 0,
  image: 'a',
  imageID: 'b',
  state,
})
const ended = (exitCode: number) => status({ terminated: { exitCode } })
const running = status({ running: {} })
const waiting = status({ waiting: { reason: 'ContainerCreating' } })

describe('computeLegalStatuses()', () => {
  const rows: readonly (readonly [string, string, ContainerStatus, ContainerStatus, 'reported' | 'said'])[] = [
    ['of a pod that never restarts stays ended', 'Never', ended(1), running, 'reported'],
    ['that succeeded stays ended', 'OnFailure', ended(0), waiting, 'reported'],
    ['that failed may come back', 'OnFailure', ended(1), running, 'said'],
    ['of a pod that always restarts may come back', 'Always', ended(0), running, 'said'],
    ['may end another way', 'Never', ended(1), ended(2), 'said'],
    ['that had not ended goes on', 'Never', waiting, running, 'said'],
  ]
  for (const [name, restartPolicy, reported, said, expected] of rows) {
    test(`a container ${name}`, () => {
      const pod = createPod({ spec: { restartPolicy, containers: [createContainer()] } })
      assert.deepEqual(computeLegalStatuses(pod, [reported], [said]), [expected === 'reported' ? reported : said])
    })
  }

  test('a container that came back before its pod was deleted is reported', () => {
    const pod = createPod({
      metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' },
      spec: { restartPolicy: 'Always' },
    })
    assert.deepEqual(computeLegalStatuses(pod, [ended(1)], [running]), [running])
  })

  test('keeps what was reported where nothing is said, and the other way round', () => {
    assert.deepEqual(computeLegalStatuses(createPod(), [running], undefined), [running])
    assert.deepEqual(computeLegalStatuses(createPod(), undefined, [running]), [running])
  })
})
