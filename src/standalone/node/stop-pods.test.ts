import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CriCallError } from '../../protocols/cri/cri-call-error.ts'
import { stopPods } from './stop-pods.ts'
import type { PodStopper } from './stop-pods.ts'

/** A runtime with three pods, and containers of two whose sandbox is gone; keeps the calls it got. */
function createRuntime(broken?: string): PodStopper & { readonly calls: string[] } {
  const calls: string[] = []
  const sandbox = (id: string, state = 0) => ({
    id,
    state,
    metadata: { name: id, namespace: 'default', uid: `uid-${id}` },
  })
  const container = (id: string, podSandboxId: string, grace?: string) => {
    return {
      id,
      podSandboxId,
      labels: { 'io.kubernetes.pod.uid': `uid-${id.slice(0, -1)}` },
      annotations: grace === undefined ? {} : { 'io.kubernetes.pod.terminationGracePeriod': grace },
    }
  }
  const call = (text: string) => {
    if (text === broken) return Promise.reject(new Error('stuck'))
    calls.push(text)
    return Promise.resolve({})
  }
  return {
    calls,
    listPodSandbox: () => Promise.resolve({ items: [sandbox('a'), sandbox('b'), sandbox('c'), sandbox('over', 1)] }),
    // As a runtime whose list of everything is too large to be sent.
    listContainers: ({ filter }) => {
      const all = [container('a1', 'a', '5'), container('a2', 'a'), container('b1', 'b', 'x')]
      const left = [container('lost1', 'earlier', '7'), container('other1', 'foreign')]
      const uid = 'labelSelector' in filter ? filter.labelSelector['io.kubernetes.pod.uid'] : undefined
      const isMeant = (each: ReturnType<typeof container>) =>
        'podSandboxId' in filter
          ? each.podSandboxId === filter.podSandboxId
          : each.labels['io.kubernetes.pod.uid'] === uid
      return Promise.resolve({ containers: [...all, ...left].filter(isMeant) })
    },
    stopContainer: ({ containerId, timeout }) => call(`stop ${containerId} ${timeout}`),
    stopPodSandbox: ({ podSandboxId }) => call(`stop ${podSandboxId}`),
    removePodSandbox: ({ podSandboxId }) => call(`remove ${podSandboxId}`),
    containerdDeleteTask: ({ containerId }) => call(`delete task ${containerId}`),
  }
}

describe('stopPods()', () => {
  test('stops containers with their own grace, then their sandbox', async (t) => {
    const runtime = createRuntime()
    assert.deepEqual(await stopPods(runtime, undefined, t.signal), { stopped: 3, failures: [] })
    const ofPod = (name: string) => runtime.calls.filter((call) => call.split(' ')[1]?.startsWith(name))
    assert.deepEqual(ofPod('a'), ['stop a1 5', 'stop a2 30', 'stop a', 'remove a'])
    assert.deepEqual(ofPod('b'), ['stop b1 30', 'stop b', 'remove b'])
    assert.deepEqual(ofPod('c'), ['stop c', 'remove c'])
    assert.deepEqual(ofPod('over'), ['stop over', 'remove over'])
  })

  test('leaves the pods of others alone', async (t) => {
    const runtime = createRuntime()
    assert.deepEqual(await stopPods(runtime, new Set(['uid-c']), t.signal), { stopped: 1, failures: [] })
    assert.deepEqual(runtime.calls, ['stop c', 'remove c'])
  })

  test('removes what is left of its pods in sandboxes that are gone', async (t) => {
    const runtime = createRuntime()
    const uids = new Set(['uid-c', 'uid-lost', 'uid-gone', ''])
    assert.deepEqual(await stopPods(runtime, uids, t.signal), { stopped: 1, failures: [] })
    const expected = ['remove c', 'remove earlier', 'stop c', 'stop earlier', 'stop lost1 7']
    assert.deepEqual(runtime.calls.toSorted(), expected)
  })

  test('ends tasks that the runtime has lost and that keep a sandbox', async (t) => {
    const runtime = createRuntime()
    let tries = 0
    const removePodSandbox: PodStopper['removePodSandbox'] = async (request, signal) => {
      tries += 1
      if (tries === 1) throw new CriCallError('removePodSandbox', 'FailedPrecondition', 'cannot delete running task')
      return await runtime.removePodSandbox(request, signal)
    }
    const result = await stopPods({ ...runtime, removePodSandbox }, new Set(['uid-a']), t.signal)
    assert.deepEqual(result, { stopped: 1, failures: [] })
    assert.deepEqual(runtime.calls.slice(-3), ['delete task a1', 'delete task a2', 'remove a'])
  })

  test('goes on when one pod is stuck, and says which', async (t) => {
    const runtime = createRuntime('stop b')
    const result = await stopPods(runtime, undefined, t.signal)
    assert.deepEqual(result, { stopped: 2, failures: ['Cannot stop pod "default/b": stuck'] })
    assert.ok(runtime.calls.includes('remove a') && runtime.calls.includes('remove c'))
  })
})
