import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, before, describe, test } from 'node:test'
import { machineArchitecture } from '../../src/standalone/images/import-images.ts'
import { findKubePrograms } from '../control-plane/kube-programs.ts'
import { startLab } from '../e2e/lab/start-lab.ts'
import type { Lab } from '../e2e/lab/start-lab.ts'
import { addAddress } from '../e2e/support/standalone-node.ts'
import { testPod } from '../e2e/support/test-pod.ts'
import { waitFor } from '../e2e/support/wait-for.ts'
import { findArtefact } from './artefacts.ts'
import { KubeadmNode } from './kubeadm-node.ts'

/** Of kubernetes.io; the path of its program is this variable's value. */
const OTHER_KUBELET = 'OTHER_KUBELET'
const other = process.env[OTHER_KUBELET] ?? ''
const programs = findKubePrograms()
const missing = programs === undefined || other === '' ? `set KUBE_BIN and ${OTHER_KUBELET}` : false
// Its unit has no more than this; the rest is kubeadm's drop-in.
const OTHER_UNIT = '[Service]\nExecStart=/usr/bin/kubelet\nRestart=always\n'

interface PodList {
  readonly items: readonly {
    readonly metadata: { readonly name: string }
    readonly status: {
      readonly containerStatuses?: readonly { readonly ready: boolean; readonly restartCount: number }[]
    }
  }[]
}

describe('the kubelet of a node that kubeadm made', () => {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-replace-'))
  const own = join(folder, 'usr/bin/kubelet')
  let lab: Lab
  let node: KubeadmNode
  const cleanup = new AsyncDisposableStack()
  after(() => rmSync(folder, { recursive: true }))
  before(async () => {
    if (programs === undefined || missing !== false) return
    for (const name of [`deckhand_*_${machineArchitecture}.deb`, 'deckhand-kubelet_*_all.deb'])
      execFileSync('dpkg-deb', ['--extract', findArtefact(name), folder])
    lab = cleanup.use(await startLab())
    await addAddress(lab)
    node = new KubeadmNode(lab, programs)
    cleanup.defer(() => node.leave())
    await node.start()
  })
  after(() => cleanup.disposeAsync())

  /** Makes a pod under the agent that runs now, and waits until all are ready; the processes of all by the ids of their containers. */
  async function addPod(name: string): Promise<ReadonlyMap<string, number>> {
    await waitFor(
      'the pod to be taken',
      async () => (await node.kubectl(['apply', '-f', '-'], JSON.stringify(testPod(name)))).exitCode === 0,
    )
    const read = async () => JSON.parse((await node.kubectl(['get', 'pods', '-o', 'json'])).stdout) as PodList
    const context = async () => JSON.stringify((await read()).items.map(({ status }) => status))
    const isReady = async () => {
      const { items } = await read()
      const statuses = items.flatMap(({ status }) => status.containerStatuses ?? [])
      assert.ok(statuses.every(({ restartCount }) => restartCount === 0))
      return (
        items.some(({ metadata }) => metadata.name === name) &&
        statuses.length === items.length &&
        statuses.every(({ ready }) => ready)
      )
    }
    await waitFor(`pod "${name}" and those before it to be ready`, isReady, { ms: 90_000, context })
    return new Map((await lab.runtime.tasks()).map(({ id, pid }) => [id, pid]))
  }

  const kept = (before: ReadonlyMap<string, number>, now: ReadonlyMap<string, number>) =>
    assert.deepEqual(
      [...before].filter(([id, pid]) => now.get(id) !== pid),
      [],
    )

  test('is replaced by ours and comes back, and no container is restarted', { skip: missing }, async (t) => {
    const unit = readFileSync(join(folder, 'usr/lib/systemd/system/kubelet.service'), 'utf8')
    const manifest = testPod('static', {}, { uid: '11111111-1111-4111-8111-111111111111' })
    await writeFile(node.path('/etc/kubernetes/manifests/static.json'), JSON.stringify(manifest))
    await node.startAgent(other, OTHER_UNIT)
    const first = await addPod('first')
    await node.stopAgent()
    await node.startAgent(own, unit)
    const second = await addPod('second')
    kept(first, second)
    await node.stopAgent()
    await node.startAgent(other, OTHER_UNIT)
    const third = await addPod('third')
    kept(second, third)
    t.diagnostic(`${first.size}, ${second.size} and ${third.size} containers, none of them restarted`)
    assert.equal(
      (await node.kubectl(['get', 'pod', 'static-lab-machine', '-o', 'jsonpath={.status.phase}'])).stdout,
      'Running',
    )
  })
})
