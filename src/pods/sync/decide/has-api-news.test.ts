import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createPod } from '../../../../test/builders/create-pod.ts'
import type { PodStatus } from '../../../model/generated/core-v1.ts'
import { hasApiNews } from './has-api-news.ts'

const plain = createPod()
const pod = { ...plain, spec: { ...plain.spec, readinessGates: [{ conditionType: 'gate' }] } }
const withStatus = (status: PodStatus) => ({ ...pod, status })
const condition = (type: string, status: string) => ({ conditions: [{ type, status }] })

describe('hasApiNews()', () => {
  test('is false for what the agent reported itself', () => {
    assert.equal(hasApiNews(pod, withStatus({ phase: 'Running', ...condition('Ready', 'True') })), false)
  })

  test('is true when a readiness gate changed', () => {
    const before = withStatus(condition('gate', 'False'))
    assert.equal(hasApiNews(before, withStatus(condition('gate', 'True'))), true)
    assert.equal(hasApiNews(before, withStatus(condition('gate', 'False'))), false)
  })

  test('is true when the claims of the pod changed', () => {
    const claims = [{ name: 'gpu', resourceClaimName: 'web-gpu' }]
    assert.equal(hasApiNews(pod, withStatus({ resourceClaimStatuses: claims })), true)
  })
})
