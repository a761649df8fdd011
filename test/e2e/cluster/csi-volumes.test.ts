import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { CSI_DRIVER, CsiDisk, csiObjects, csiPod } from '../support/csi-disk.ts'
import { StandaloneNode } from '../support/standalone-node.ts'
import { isReady } from '../support/test-node.ts'

describe('volumes of a CSI driver', () => {
  let node: StandaloneNode
  let root = ''
  let data = ''
  let driver: CsiDisk
  before(async () => {
    node = await StandaloneNode.start()
    root = `${node.state}/kubelet`
    data = `${node.lab.folder}/disks`
    await mkdir(data)
    driver = new CsiDisk(node, data)
  })
  after(async () => await node[Symbol.asyncDispose]())

  const mountsBelow = async (path: string): Promise<readonly string[]> => {
    const { stdout } = await node.lab.runInside(['cat', '/proc/self/mountinfo'])
    const points = stdout.split('\n').map((line) => line.split(' ')[4] ?? '')
    return points.filter((point) => point.startsWith(path)).toSorted()
  }
  test('two pods share one; agent and driver may end and start again; what is left goes without the objects, all of it but the data', async () => {
    await driver.start()
    await node.apply(...csiObjects, csiPod('one'), csiPod('two'))
    const [one, two] = [await node.ready('one'), await node.ready('two')]
    await node.runIn(one, 'sh', '-c', 'echo kept > /data/note')
    assert.equal((await node.runIn(two, 'cat', '/data/note')).trim(), 'kept')
    assert.equal((await driver.calls(1)).filter((call) => call === 'nodeStageVolume').length, 1)

    await node.killAgent()
    await node.waitFor('the next agent to know both', async () => (await node.agentPods()).filter(isReady).length === 2)
    await node.waitFor('both to be published again', async () => {
      return (await driver.calls(1)).filter((call) => call === 'nodePublishVolume').length === 4
    })
    const paths = [one, two].map(
      ({ metadata: { uid } }) => `${root}/pods/${uid}/volumes/kubernetes.io~csi/pv-data/mount`,
    )
    assert.deepEqual(await mountsBelow(`${root}/pods/`), paths.toSorted())
    const same = await node.ready('one')
    assert.deepEqual(same.status?.containerStatuses, one.status?.containerStatuses)

    await driver.end()
    await node.kubectl('delete', 'pv,pvc', '--all', '--wait=false')
    await node.kubectl('delete', 'pod', 'one', 'two', '--wait=false')
    const reported = `not found in the list of registered CSI drivers`
    await node.waitFor('the pods to wait for their driver', async () =>
      (await node.explained('one'))?.includes(reported),
    )
    await node.killAgent()
    await driver.start()
    await Promise.all([node.gone('one'), node.gone('two')])
    const staging = `${root}/plugins/kubernetes.io/csi/${CSI_DRIVER}`
    await node.waitFor(
      'the volume to be unstaged',
      async () => existsSync(staging) && readdirSync(staging).length === 0,
    )
    assert.deepEqual(await mountsBelow(`${root}/`), [])
    for (const path of paths) assert.equal(existsSync(dirname(dirname(path))), false)
    assert.equal(await readFile(`${data}/vol-data/note`, 'utf8'), 'kept\n')
    const calls = await driver.calls(2)
    assert.ok(calls.lastIndexOf('nodeUnpublishVolume') < calls.indexOf('nodeUnstageVolume'), 'unstaged last')
    await driver.end()
  })
})
