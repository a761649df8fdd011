import assert from 'node:assert/strict'
import { BUSYBOX, deployment, object } from './manifests.ts'
import type { JobNode } from './job-node.ts'
import { runJob } from './run-job.ts'

const pod = (name: string, spec: object = {}) => {
  const containers = [{ name: 'main', image: BUSYBOX, command: ['sleep', '100000'] }]
  return object({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: { containers, terminationGracePeriodSeconds: 1, ...spec },
  })
}

/** What is broken on purpose is explained; exit codes say it too. */
async function explains(node: JobNode): Promise<void> {
  await node.eventually(['get', 'pods', '-l', 'app=crash'], /CrashLoopBackOff|Error/)
  const name = await node.kubectl('get', 'pods', '-l', 'app=crash', '-o', 'jsonpath={.items[0].metadata.name}')
  assert.match(await node.deckhand('why', name), /exited with 7 /)
  assert.match(await node.deckhand('why', 'nowhere'), /didn't match Pod's node affinity\/selector/)
  const refused = await node.tryDeckhand('status')
  assert.equal(refused.exitCode, 1, refused.stdout)
  assert.match(refused.stdout, /wrong\.yaml:5: spec\.containers: Required value/)
  assert.match(await node.deckhand('why', 'wrong.yaml'), /Required value/)
}

/** Pods from files and from the API, scaling, what does not fit, and why. */
runJob('teaching', {
  begin: async (node) => {
    await node.write('../state/manifests/lesson.yaml', pod('lesson'))
    const wrong = 'apiVersion: v1\nkind: Pod\nmetadata: {name: wrong}\nspec:\n  containers: []\n'
    await node.write('../state/manifests/wrong.yaml', wrong)
    await node.apply(deployment('class', 'exec sleep 100000', { replicas: 3 }))
    await node.apply(deployment('crash', 'echo no; exit 7') + pod('nowhere', { nodeSelector: { planet: 'mars' } }))
  },
  holds: async (node) => {
    await node.rolledOut('deployment/class')
    await node.kubectl('scale', 'deployment/class', '--replicas=1')
    await node.eventually(['get', 'pods', '-l', 'app=class', '-o', 'jsonpath={range .items[*]}x{end}'], /^x$/)
    await node.kubectl('scale', 'deployment/class', '--replicas=3')
    await node.rolledOut('deployment/class')
    await explains(node)
    await node.eventually(['get', 'pods'], /^lesson-\S+ +1\/1 +Running /m)
    assert.match(await node.kubectl('explain', 'pod.spec.containers.livenessProbe'), /periodSeconds/)
  },
})
