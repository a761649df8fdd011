import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { ContainerStatus } from '../../../src/model/generated/core-v1.ts'
import type { Pod } from '../../../src/model/pod/pod.ts'
import { scripts, testContainer, testPod } from '../support/test-pod.ts'
import { TestNode } from '../support/test-node.ts'

const statusesOf = ({ status }: Pod): readonly ContainerStatus[] => [
  ...(status?.initContainerStatuses ?? []),
  ...(status?.containerStatuses ?? []),
]
const rules = [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } }]

describe('a container whose end restarts all containers of its pod', () => {
  let node: TestNode
  before(async () => void (node = await TestNode.start()))
  after(() => node[Symbol.asyncDispose]())

  test('makes all of them run again in the same sandbox', async () => {
    // Shared memory belongs to the sandbox: that the second instance finds it shows that the sandbox stayed.
    const leader = `test -e /dev/shm/again && { ${scripts.obedient}; }; touch /dev/shm/again; sleep 1; exit 42`
    const pod = testPod('gang', {
      restartPolicy: 'Never',
      initContainers: [testContainer('prepare', 'echo prepared')],
      containers: [
        { ...testContainer('leader', leader), restartPolicy: 'Never', restartPolicyRules: rules },
        testContainer('peer', scripts.obedient),
      ],
    })
    await node.lab.manifests.write('gang', pod)
    const again = await node.podIs('gang', 'restarted', (seen) => {
      const isBack = ({ name, restartCount, ready }: ContainerStatus) =>
        restartCount === 1 && (ready || name === 'prepare')
      return statusesOf(seen).length === 3 && statusesOf(seen).every(isBack)
    })
    assert.equal(again.status?.phase, 'Running')
    assert.deepEqual(
      statusesOf(again).map(({ name, lastState }) => [name, lastState?.terminated?.reason]),
      ['prepare', 'leader', 'peer'].map((name) => [name, 'RestartingAllContainers']),
    )
    // Docker's logs go with their containers.
    const kept = node.lab.runtime.name === 'docker' ? 0 : 1
    const first = await node.logLines(again, 'prepare', 0).catch(() => [])
    assert.equal(first.length, kept, 'the log of the first round stays')
    assert.equal((await node.logLines(again, 'prepare', 1)).length, 1)
    const restarting = again.status?.conditions?.find(({ type }) => type === 'AllContainersRestarting')
    assert.equal(restarting?.status, 'False')
    await node.lab.manifests.remove('gang')
    await node.logged('"pod ended"', 'default/gang-lab')
  })
})
