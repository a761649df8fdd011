import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { systemClock } from '../../../src/base/async/clock.ts'
import { createEventRecorder } from '../../../src/protocols/kube-api/events/create-event-recorder.ts'
import type { Event } from '../../../src/model/generated/core-v1.ts'
import { createPod } from '../../builders/create-pod.ts'
import { silentLogger } from '../../../src/base/telemetry/silent-logger.ts'
import { startSecuredApi } from '../api-server/start-secured-api.ts'
import { createHttpsKubeClient } from './https-kube-client.ts'

test('events of a node are in the API, counted and combined', async (t) => {
  const api = await startSecuredApi(t)
  const recorder = createEventRecorder({
    client: createHttpsKubeClient(api, () => api.node),
    nodeName: 'node-1',
    clock: systemClock,
    random: Math.random,
    newUid: randomUUID,
    log: silentLogger,
  })
  const pod = createPod({ metadata: { namespace: 'default' } })
  const failed = { type: 'Warning', reason: 'Failed', fieldPath: 'spec.containers{main}' } as const
  for (let index = 0; index < 3; index += 1) recorder.podEvents.record(pod, { ...failed, message: 'it broke' })
  for (let index = 0; index < 12; index += 1) recorder.podEvents.record(pod, { ...failed, message: `try ${index}` })
  recorder.nodeEvents.record({ type: 'Normal', reason: 'Starting', message: 'Starting kubelet.' })
  const controller = new AbortController()
  const running = recorder.run(controller.signal)
  for (;;) {
    const { body } = await api.call(api.admin, 'GET', '/api/v1/namespaces/default/events')
    const events = body['items'] as readonly Event[]
    if (!events.some(({ reason }) => reason === 'Starting')) continue
    const counts = Object.fromEntries(events.map(({ message, count }) => [message, count]))
    const single = Array.from({ length: 8 }, (_, index) => [`try ${index}`, 1])
    assert.deepEqual(counts, {
      'it broke': 3,
      ...Object.fromEntries(single),
      '(combined from similar events): try 11': 4,
      'Starting kubelet.': 1,
    })
    break
  }
  controller.abort(new Error('The test ends'))
  await running
})
