import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { NODE_NAME } from '../e2e/lab/lab-agent.ts'
import { startLab } from '../e2e/lab/start-lab.ts'
import { TestNode } from '../e2e/support/test-node.ts'
import { scripts, testContainer, testPod } from '../e2e/support/test-pod.ts'
import { makeTemporaryFolder } from '../fixtures/make-temporary-folder.ts'
import { findRunning } from './find-running.ts'
import { KillingProxy } from './killing-proxy.ts'

const SLOW_MS = 60_000
const podName = (name: string) => `${name}-${NODE_NAME}`
// The init container outlives each kill: of one that ends in that very moment Docker says 255, whatever it ended with (seen on 20.10 without an agent).
const manifest = (name: string) =>
  testPod(name, {
    initContainers: [testContainer('init', 'sleep 3')],
    containers: ['main', 'side'].map((container) => testContainer(container, scripts.obedient)),
  })

test('Docker may be killed at each step of a pod’s life: nothing is started twice, nothing is lost', async (t) => {
  await using cleanup = new AsyncDisposableStack()
  const lab = cleanup.use(await startLab('docker'))
  const own = join(makeTemporaryFolder(), 'docker.sock')
  const proxy = cleanup.use(
    await KillingProxy.start({ own, docker: lab.docker.socket }, () =>
      lab.docker.kill9().then(() => lab.docker.start()),
    ),
  )
  const config = { containerRuntimeEndpoint: `unix://${own}` }
  const agent = await lab.startAgent({ config })
  await agent.healthy()
  const node = new TestNode(lab, agent, { config })
  cleanup.defer(() => node.runtime.close())
  const { manifests } = lab

  await manifests.write('steady', testPod('steady'))
  await node.ready('steady')
  const [steady] = await node.processes()

  /** From the manifest to the point where nothing is left. */
  const live = async (name: string) => {
    await manifests.write(name, manifest(name))
    const { status, ...pod } = await node.ready(name, SLOW_MS)
    assert.deepEqual(await findRunning(node, name), { sandboxes: 1, containers: ['main', 'side'], unknown: [] })
    for (const { name: container, restartCount } of [
      ...(status?.initContainerStatuses ?? []),
      ...(status?.containerStatuses ?? []),
    ]) {
      const starts = proxy.taken.filter(
        ({ pod: of, step }) => of === podName(name) && step.startsWith(`StartContainer ${container}#`),
      )
      const known = starts.filter(({ outcome }) => outcome === 'answered').length
      const doubts = starts.length - known
      assert.ok(known <= 1, `${container} was started ${known} times`)
      assert.ok(restartCount <= doubts, `${container} has restart count ${restartCount}, ${doubts} starts in doubt`)
    }
    await manifests.remove(name)
    await node.gone({ ...pod, status }, SLOW_MS)
    await node.waitFor(`nothing of "${name}" to be left in Docker`, async () => {
      return !(await lab.docker.names()).some((one) => one.includes(`_${podName(name)}_`))
    })
  }

  await live('whole')
  const steps = proxy.taken.filter(({ pod }) => pod === podName('whole')).map(({ step }) => step)
  const end = steps.findIndex((step) => step.startsWith('Stop'))
  assert.ok(end > 0, steps.join())
  for (const when of ['unanswered', 'answered'] as const) {
    // One kill while the pod starts, and one while it ends.
    const pairs = Array.from({ length: Math.max(end, steps.length - end) }, (_, index) =>
      [index < end ? steps[index] : undefined, steps[end + index]].filter((step) => step !== undefined),
    )
    for (const [index, cut] of pairs.entries()) {
      await t.test(`${when} at ${cut.join(' and ')}`, async () => {
        const name = `${when}-${index}`
        for (const step of cut) proxy.plan(podName(name), step, when)
        await live(name)
        assert.deepEqual(proxy.missed, [])
      })
    }
  }
  assert.deepEqual((await node.processes()).get(steady?.[0] ?? ''), steady?.[1], 'a pod without a change was restarted')
})
