import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startLab } from '../e2e/lab/start-lab.ts'
import { WorkloadNode } from '../e2e/standalone/workload-node.ts'
import { waitFor } from '../e2e/support/wait-for.ts'

const POD = `apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - {name: main, image: 'deckhand.local/busybox:1', imagePullPolicy: Never, command: [sleep, '1000']}
`

test('deckhand down leaves nothing of a pod whose sandbox was removed by hand', async () => {
  await using lab = await startLab('docker')
  const node = new WorkloadNode(lab)
  await node.up()
  await node.kubectl('apply', '-f', await node.write('pod.yaml', POD))
  await node.kubectl('wait', 'pod/web', '--for=condition=Ready', '--timeout=25s')
  const list = async () => (await lab.docker.names()).filter((name) => name.includes('_web_')).sort()
  const [sandbox, container] = await list()
  assert.match(`${sandbox} ${container}`, /^k8s_POD_web_\S+ k8s_main_web_/)
  assert.equal(await lab.docker.ask('DELETE', `/containers/${sandbox}?force=1`), 204)
  const replaced = await waitFor('another sandbox with another container', async () => {
    const names = await list()
    return names.length === 3 && names
  })
  // The container of before is kept for its log, in a sandbox that is gone.
  assert.ok(replaced.includes(container ?? ''), replaced.join())
  await node.down()
  assert.deepEqual(await list(), [])
})
