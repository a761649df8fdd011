import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createObservedContainer,
  createObservedPod,
  createObservedSandbox,
  createPodRuntime,
  failing,
} from '../../../../test/component/create-pod-runtime.ts'
import { removeLeftovers } from './remove-leftovers.ts'

const never = new AbortController().signal
const logPath = '/var/log/pods/shop_web_u-1/main/0.log'
const leftovers = {
  containers: [createObservedContainer({ state: 'exited', logPath })],
  sandboxes: [createObservedSandbox({ ready: false })],
}

test('removeLeftovers() removes logs and containers, then stops and removes sandboxes', async () => {
  const { runtime, journal, files } = await createPodRuntime()
  files.files.set(logPath, 'text')
  files.files.set('/var/log/containers/web_shop_main-c-1.log', logPath)
  await removeLeftovers(runtime, createObservedPod(), leftovers, never)
  assert.deepEqual(journal, ['removeContainer c-1', 'stopPodSandbox s-1', 'removePodSandbox s-1'])
  assert.deepEqual([...files.files], [])
})

test('removeLeftovers() does not mind what is gone already', async () => {
  const gone = failing('NotFound')
  const { runtime, journal } = await createPodRuntime({}, { removeContainer: gone, removePodSandbox: gone })
  await removeLeftovers(runtime, createObservedPod(), leftovers, never)
  assert.deepEqual(journal, ['removeContainer c-1', 'stopPodSandbox s-1', 'removePodSandbox s-1'])
})

test('removeLeftovers() keeps the sandbox of a container that cannot be removed', async () => {
  const { runtime, journal } = await createPodRuntime({}, { removeContainer: failing('Unknown', 'busy') })
  await assert.rejects(removeLeftovers(runtime, createObservedPod(), leftovers, never), /busy/)
  assert.deepEqual(journal, ['removeContainer c-1'])
})

test('removeLeftovers() stops what is in an unknown state first, with the hook and the grace that it was made with', async () => {
  const { runtime, journal, events } = await createPodRuntime()
  const keptSpec = { terminationGracePeriodSeconds: 40, preStop: { exec: { command: ['bye'] } } }
  const containers = [createObservedContainer({ state: 'unknown', keptSpec })]
  await removeLeftovers(runtime, createObservedPod(), { containers, sandboxes: [] }, never)
  assert.deepEqual(journal, ['execSync c-1 0', 'stopContainer c-1 40', 'removeContainer c-1'])
  assert.deepEqual(events, ['Normal Killing Container main is in an unknown state'])
})
