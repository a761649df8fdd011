import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import process from 'node:process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { BUSYBOX_IMAGE } from '../../../src/standalone/images/node-images.ts'
import { listShims } from '../support/list-shims.ts'
import { TestNode } from '../support/test-node.ts'
import { testPod } from '../support/test-pod.ts'

const never = new AbortController().signal
const collector = fileURLToPath(new URL('../support/collect-shims.ts', import.meta.url))

test('a task that containerd’s CRI has lost keeps neither the pod nor its shim', async () => {
  await using node = await TestNode.start()
  const { lab, runtime } = node
  await lab.manifests.write('lost', testPod('lost'))
  const pod = await node.ready('lost')
  // As after a start whose caller died: CRI counts the container as one that does not run, and containerd has a task of it.
  const [main] = await node.running('lost')
  const { containerId } = await runtime.createContainer(
    {
      podSandboxId: main?.podSandboxId ?? '',
      sandboxConfig: { metadata: { name: 'lost-lab', namespace: 'default', uid: pod.metadata.uid, attempt: 0 } },
      config: {
        metadata: { name: 'broken-off', attempt: 0 },
        image: { image: BUSYBOX_IMAGE },
        command: ['sleep', '1000'],
        labels: { ...main?.labels, 'io.kubernetes.container.name': 'broken-off' },
        annotations: main?.annotations ?? {},
      },
    },
    never,
  )
  await lab.containerd.ctr('tasks', 'start', '--null-io', '-d', containerId)
  await assert.rejects(runtime.removeContainer({ containerId }, never), { code: 'FailedPrecondition' })
  await lab.manifests.remove('lost')
  await node.gone(pod)
  assert.deepEqual(await node.containers(), [])
  assert.deepEqual(await lab.containerd.tasks(), [])
  const { runtimeVersion } = await runtime.version({ version: '0.1.0' }, never)
  // containerd 2 leaves the shim of such a task to those who collect them, as the agent does every five minutes.
  if (/^v?2\./.test(runtimeVersion)) await lab.runInside([process.execPath, collector, lab.containerd.socket])
  await node.waitFor('the shim to end', async () => (await listShims(lab)).length === 0)
})

test('a shim that containerd has forgotten is ended, and no other', async () => {
  await using node = await TestNode.start()
  const { lab } = node
  await lab.manifests.write('stays', testPod('stays'))
  await node.ready('stays')
  const before = await listShims(lab)
  assert.equal(before.length, 1)
  const forgotten = randomBytes(32).toString('hex')
  const foreign = randomBytes(32).toString('hex')
  // A containerd that is not the agent's: its shims are there, and its socket is another.
  await writeFile(`${lab.folder}/foreign.sock`, '')
  await startShim(node, forgotten, lab.containerd.socket)
  await startShim(node, foreign, `${lab.folder}/foreign.sock`)
  assert.deepEqual((await listShims(lab)).toSorted(), [...before, forgotten, foreign].toSorted())
  const { exitCode, stderr } = await lab.runInside([process.execPath, collector, lab.containerd.socket])
  assert.equal(exitCode, 0, stderr)
  assert.deepEqual((await listShims(lab)).toSorted(), [...before, foreign].toSorted())
  await node.ready('stays')
})

/** A real shim that was started as containerd does it, and of which containerd knows nothing. */
async function startShim({ lab }: TestNode, id: string, address: string): Promise<void> {
  const bundle = `${lab.folder}/bundle-${id.slice(0, 8)}`
  await mkdir(bundle)
  await writeFile(`${bundle}/config.json`, '{"ociVersion":"1.0.2","annotations":{}}')
  const command = `containerd-shim-runc-v2 -namespace k8s.io -id ${id} -address ${address} -publish-binary containerd start`
  // Not the last command of the shell: the shim wants a parent inside the lab.
  const script = `cd ${bundle} && mkfifo log && ${command}; code=$?; exit $code`
  const { exitCode, stdout, stderr } = await lab.runInside(['sh', '-c', script])
  assert.equal(exitCode, 0, `${stdout}\n${stderr}`)
}
