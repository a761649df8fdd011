import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createObservedContainer,
  createObservedPod,
  createObservedSandbox,
  createPodDeps,
  failing,
} from '../../../../test/component/create-pod-deps.ts'
import { removeLeftovers } from './remove-leftovers.ts'

const never = new AbortController().signal
const logPath = '/var/log/pods/shop_web_u-1/main/0.log'
const leftovers = {
  containers: [createObservedContainer({ state: 'exited', logPath })],
  sandboxes: [createObservedSandbox({ ready: false })],
}

const ownerOf = (...stopped: string[]) => ({
  ...createObservedPod(),
  history: { stoppedSandboxes: new Set(stopped) },
})

test('removeLeftovers() removes logs and containers, then stops and removes sandboxes', async () => {
  const { deps, journal, files } = await createPodDeps()
  files.files.set(logPath, 'text')
  files.files.set('/var/log/containers/web_shop_main-c-1.log', logPath)
  await removeLeftovers(deps, ownerOf(), leftovers, never)
  assert.deepEqual(journal, ['removeContainer c-1', 'stopPodSandbox s-1', 'removePodSandbox s-1'])
  assert.deepEqual([...files.files], [])
})

test('removeLeftovers() does not stop a sandbox again that is stopped, and forgets it', async () => {
  const { deps, journal } = await createPodDeps()
  const owner = ownerOf('s-1')
  await removeLeftovers(deps, owner, leftovers, never)
  assert.deepEqual(journal, ['removeContainer c-1', 'removePodSandbox s-1'])
  assert.equal(owner.history.stoppedSandboxes.size, 0)
})

test('removeLeftovers() does not mind what is gone already', async () => {
  const gone = failing('NotFound')
  const { deps, journal } = await createPodDeps({}, { removeContainer: gone, removePodSandbox: gone })
  await removeLeftovers(deps, ownerOf(), leftovers, never)
  assert.deepEqual(journal, ['removeContainer c-1', 'stopPodSandbox s-1', 'removePodSandbox s-1'])
})

test('removeLeftovers() keeps the sandbox of a container that cannot be removed', async () => {
  const { deps, journal, events } = await createPodDeps({}, { removeContainer: failing('Unknown', 'busy') })
  await assert.rejects(removeLeftovers(deps, ownerOf(), leftovers, never), /busy/)
  assert.deepEqual(journal, ['removeContainer c-1'])
  assert.deepEqual(events, ['garbage: rpc error: code = Unknown desc = busy'])
})

test('removeLeftovers() stops what is in an unknown state first, with the hook and the grace that it was made with', async () => {
  const { deps, journal, events } = await createPodDeps()
  const keptSpec = { terminationGracePeriodSeconds: 40, preStop: { exec: { command: ['bye'] } } }
  const containers = [createObservedContainer({ state: 'unknown', keptSpec })]
  await removeLeftovers(deps, ownerOf(), { containers, sandboxes: [] }, never)
  assert.deepEqual(journal, ['execSync c-1 0', 'stopContainer c-1 40', 'removeContainer c-1'])
  assert.deepEqual(events, ['Normal Killing Container is in "unknown" state, try killing it before restart'])
})
