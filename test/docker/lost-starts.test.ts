import assert from 'node:assert/strict'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { startLab } from '../e2e/lab/start-lab.ts'
import { TestNode } from '../e2e/support/test-node.ts'
import { scripts, testContainer, testPod } from '../e2e/support/test-pod.ts'
import { findRunning, findUnknown } from './find-running.ts'

const SLOW_MS = 60_000

/** An OCI runtime that is late to answer after a command, while a file says which: what it did is there, and Docker does not know. */
const lateRuntime = (file: string) => `#!/bin/sh
runc "$@" || exit
late=$(cat ${file} 2> /dev/null) || exit 0
for word in "$@"; do [ "$word" = "$late" ] && exec sleep 20; done
exit 0
`

test('a start that Docker loses with its life runs neither on nor beside the next one', async (t) => {
  await using cleanup = new AsyncDisposableStack()
  const lab = cleanup.use(await startLab('docker'))
  const { docker, manifests } = lab
  const late = join(lab.folder, 'late')
  docker.ociRuntime = join(lab.folder, 'late-runtime')
  await writeFile(docker.ociRuntime, lateRuntime(late), { mode: 0o755 })
  await docker.restart()
  const agent = await lab.startAgent()
  await agent.healthy()
  const node = new TestNode(lab, agent)
  cleanup.defer(() => node.runtime.close())

  /** Docker dies after the OCI runtime has done this for the pod, and before Docker hears of it. */
  const loseStart = async (command: 'create' | 'start') => {
    await node.waitFor('a process that Docker does not know', async () =>
      (await findUnknown(lab)).some((name) => name.startsWith('runc:[') === (command === 'create')),
    )
    await docker.kill9()
    await rm(late)
    await docker.start()
  }

  for (const command of ['create', 'start'] as const) {
    await t.test(`of a sandbox, at ${command}`, async () => {
      const name = `sandbox-${command}`
      await writeFile(late, command)
      await manifests.write(name, testPod(name))
      await loseStart(command)
      const pod = await node.ready(name, SLOW_MS)
      assert.deepEqual(await findRunning(node, name), { sandboxes: 1, containers: ['main'], unknown: [] })
      await manifests.remove(name)
      await node.gone(pod, SLOW_MS)
    })

    await t.test(`of a container, at ${command}`, async () => {
      const name = `container-${command}`
      const init = testContainer('init', 'sleep 3')
      await manifests.write(name, testPod(name, { initContainers: [init] }))
      await node.waitFor('the init container', async () => (await node.running(name)).length === 1)
      await writeFile(late, command)
      await loseStart(command)
      const pod = await node.ready(name, SLOW_MS)
      assert.deepEqual(await findRunning(node, name), { sandboxes: 1, containers: ['main'], unknown: [] })
      assert.equal(pod.status?.containerStatuses?.[0]?.restartCount, 0)
      await manifests.remove(name)
      await node.gone(pod, SLOW_MS)
    })
  }

  await t.test('of a container that runs once: it has run', async () => {
    const spec = { restartPolicy: 'Never', initContainers: [testContainer('init', 'sleep 3')] }
    await manifests.write('once', testPod('once', { ...spec, containers: [testContainer('main', scripts.obedient)] }))
    await node.waitFor('the init container', async () => (await node.running('once')).length === 1)
    await writeFile(late, 'start')
    await loseStart('start')
    const pod = await node.podIs('once', 'failed', ({ status }) => status?.phase === 'Failed', SLOW_MS)
    const { exitCode, reason } = pod.status?.containerStatuses?.[0]?.state?.terminated ?? {}
    assert.deepEqual([exitCode, reason], [128, 'StartError'])
    assert.deepEqual((await findRunning(node, 'once')).containers, [])
    await manifests.remove('once')
    await node.gone(pod, SLOW_MS)
  })
})
