import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPod } from '../../../../test/builders/create-pod.ts'
import { silentLogger } from '../../../base/telemetry/silent-logger.ts'
import { preemptPod } from './preempt-pod.ts'

const request = { pod: createPod(), eviction: { reason: 'Preempting', message: 'm', disruption: 'd' } }

test('preemptPod() leaves a pod that does not end in time to its worker', async () => {
  const asked: unknown[] = []
  const registry = {
    evict: async (...[uid, eviction]: readonly unknown[]) => {
      asked.push([uid, eviction])
      throw new Error('late')
    },
  }
  await preemptPod({ registry, log: silentLogger }, request, new AbortController().signal)
  assert.deepEqual(asked, [[request.pod.metadata.uid, { ...request.eviction, graceSeconds: undefined }]])
})

test('preemptPod() ends with the agent', async () => {
  const reason = new Error('the agent leaves')
  const registry = { evict: () => Promise.reject(new Error('aborted')) }
  await assert.rejects(preemptPod({ registry, log: silentLogger }, request, AbortSignal.abort(reason)), reason)
})
