import assert from 'node:assert/strict'
import { describe, after, before, test } from 'node:test'
import type { RuntimeClasses } from '../../../src/pods/sync/start/runtime-classes.ts'
import { createSandbox, describeSandbox, SandboxError } from '../../../src/pods/sync/start/create-sandbox.ts'
import { toObservedSandbox } from '../../../src/pods/observe/to-observed.ts'
import { createPod } from '../../builders/create-pod.ts'
import { createPodDeps } from '../../component/create-pod-deps.ts'
import { SECOND_HANDLER } from '../lab/second-handler.ts'
import { testPod } from '../support/test-pod.ts'
import { TestNode } from '../support/test-node.ts'

const never = new AbortController().signal

describe('a runtime class', () => {
  let node: TestNode
  // An agent would end a sandbox that it does not know: it comes back for the last test.
  before(async () => {
    node = await TestNode.start()
    await node.agent.kill()
  })
  after(() => node[Symbol.asyncDispose]())

  /** The part of the agent that makes sandboxes, on the runtime of the lab, with classes that an API server would report. */
  async function makeSandbox(runtimeClasses: RuntimeClasses) {
    const { deps, events } = await createPodDeps({ calls: node.runtime, runtimeClasses })
    const cgroups = { driver: 'cgroupfs', root: node.lab.cgroupRoot, perQos: true } as const
    const sandbox = { ...deps.node.sandbox, cgroups, podLogsDirectory: node.podLogs }
    const agent = { ...deps, node: { ...deps.node, sandbox } }
    const pod = createPod({ spec: { runtimeClassName: 'other', dnsPolicy: 'Default' } })
    const request = { attempt: 0, reported: new Set<string>(), existing: undefined }
    const make = async () => await createSandbox(agent, pod, await describeSandbox(agent, pod, request), never)
    return { make, events }
  }

  test('runs its pods with its handler', async () => {
    const { make } = await makeSandbox({ find: () => ({ kind: 'found', value: { handler: SECOND_HANDLER } }) })
    const { id, ips } = await make()
    assert.match(ips[0] ?? '', /^10\.88\./)
    const { status } = await node.runtime.podSandboxStatus({ podSandboxId: id }, never)
    assert.ok(status !== undefined)
    assert.equal(toObservedSandbox(status).runtimeHandler, SECOND_HANDLER)
    await node.runtime.stopPodSandbox({ podSandboxId: id }, never)
    await node.runtime.removePodSandbox({ podSandboxId: id }, never)
  })

  test('whose handler the runtime does not have says so', async () => {
    const { make, events } = await makeSandbox({ find: () => ({ kind: 'found', value: { handler: 'vm' } }) })
    await assert.rejects(make(), SandboxError)
    const [event = '', ...more] = events
    assert.match(
      event,
      /^Warning FailedCreatePodSandBox Failed to create pod sandbox: rpc error: code = Unknown desc = /,
    )
    assert.match(event, /: no runtime for "vm" is configured$/)
    assert.deepEqual(more, [])
  })

  test('keeps a pod pending on a node without an API server, which says so', async () => {
    await node.startAgent()
    await node.agent.healthy()
    await node.lab.manifests.write('classed', testPod('classed', { runtimeClassName: 'other' }))
    const message = 'Failed to create pod sandbox: Cannot look up runtime class'
    await node.logged('default/classed-lab', 'reason="FailedCreatePodSandBox"', message, 'this node has no API server')
    const pod = await node.agent.pod('classed')
    assert.equal(pod?.status?.phase, 'Pending')
    assert.deepEqual(await node.containers('classed'), [])
  })
})
