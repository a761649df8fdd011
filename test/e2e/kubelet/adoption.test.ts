import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ContainerStatus } from '../../../src/model/generated/core-v1.ts'
import type { Pod } from '../../../src/model/pod/pod.ts'
import { scripts, testContainer, testPod } from '../support/test-pod.ts'
import { isReady, TestNode } from '../support/test-node.ts'

const mainOf = (pod: Pod): ContainerStatus | undefined => pod.status?.containerStatuses?.[0]

test('an agent that was killed finds its pods again', async () => {
  await using node = await TestNode.start()
  const { manifests } = node.lab
  const sidecar = testContainer('car', scripts.obedient, { restartPolicy: 'Always' })
  const pods = {
    plain: testPod('plain'),
    rich: testPod('rich', { initContainers: [testContainer('first', scripts.exits(0)), sidecar] }),
    orphan: testPod('orphan'),
    victim: testPod('victim'),
    done: testPod('done', { restartPolicy: 'Never', containers: [testContainer('main', scripts.exits(3))] }),
  }
  for (const [name, pod] of Object.entries(pods)) await manifests.write(name, pod)
  const names = ['plain', 'rich', 'orphan', 'victim']
  const before = new Map<string, Pod>()
  for (const name of names) before.set(name, await node.ready(name))
  await node.podIs('done', 'Failed', ({ status }) => status?.phase === 'Failed')
  const processes = await node.processes()

  await node.agent.kill('SIGKILL')
  assert.deepEqual(await node.processes(), processes)
  await manifests.remove('orphan')
  const [victim] = await node.running('victim')
  await node.killProcess(victim?.id ?? '')
  const logged = (await node.agent.log()).length
  await node.startAgent()

  for (const name of ['plain', 'rich']) {
    const after = await node.ready(name)
    assert.equal(after.metadata.uid, before.get(name)?.metadata.uid)
    assert.deepEqual(idsOf(after), idsOf(before.get(name)))
    assert.equal(await node.starts(name), 1)
  }
  const restarted = await node.podIs('victim', 'restarted', (pod) => isReady(pod) && mainOf(pod)?.restartCount === 1)
  assert.equal(mainOf(restarted)?.lastState?.terminated?.exitCode, 137)
  await node.waitFor('its second start to be in the log', async () => (await node.starts('victim')) === 2)
  await node.waitFor('the orphan to end', async () => (await node.running('orphan')).length === 0)
  await node.waitFor('the orphan to be removed', async () => (await node.containers('orphan')).length === 0)
  const done = await node.podIs('done', 'Failed', ({ status }) => status?.phase === 'Failed')
  assert.equal(mainOf(done)?.state?.terminated?.exitCode, 3)
  assert.equal(await node.starts('done'), 1)

  const now = await node.processes()
  for (const name of ['plain', 'rich']) {
    for (const { id } of await node.running(name)) assert.equal(now.get(id), processes.get(id), name)
  }
  const killed = (await node.agent.log()).slice(logged).filter((line) => line.includes('reason="Killing"'))
  assert.deepEqual(killed, [])
})

function idsOf(pod: Pod | undefined): readonly unknown[] {
  const statuses = [...(pod?.status?.initContainerStatuses ?? []), ...(pod?.status?.containerStatuses ?? [])]
  return statuses.map(({ name, containerID, restartCount, ready }) => ({ name, containerID, restartCount, ready }))
}
