import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { CSI_DRIVER, CsiDisk, csiObjects, csiPod } from '../../e2e/support/csi-disk.ts'
import { StandaloneNode } from '../../e2e/support/standalone-node.ts'
import type { MadeFault } from '../fault-row.ts'

const MOUNTING = ['nodeStageVolume', 'nodePublishVolume'] as const
const UNMOUNTING = ['nodeUnpublishVolume', 'nodeUnstageVolume'] as const

export const csiRows: readonly MadeFault<StandaloneNode>[] = [
  {
    name: 'csi-driver-killed',
    fault: 'a CSI driver is killed in the middle of a call',
    injection:
      'it does what a stage, publish, unpublish or unstage call asks for and kills itself before the answer; it is started again each time',
    invariants: ['once', 'kept', 'lives', 'status', 'clean'],
    quick: false,
    async run(node) {
      const data = `${node.lab.folder}/disks`
      await mkdir(data)
      const driver = new CsiDisk(node, data)
      const pid = await node.agentPid()
      await driver.start(MOUNTING[0])
      await node.apply(...csiObjects, csiPod('mounted'))
      for (const next of [MOUNTING[1], undefined]) {
        await driver.dies()
        await driver.start(next)
      }
      const pod = await node.ready('mounted')
      assert.equal(pod.status?.containerStatuses?.[0]?.restartCount, 0)
      await node.runIn(pod, 'sh', '-c', 'echo kept > /data/note')
      await driver.end()
      await driver.start(UNMOUNTING[0])
      await node.kubectl('delete', 'pod', 'mounted', '--wait=false')
      for (const next of [UNMOUNTING[1], undefined]) {
        await driver.dies()
        await driver.start(next)
      }
      await node.gone('mounted')
      const staging = `${node.state}/kubelet/plugins/kubernetes.io/csi/${CSI_DRIVER}`
      await node.waitFor('the volume to be unstaged', async () => {
        return existsSync(staging) && readdirSync(staging).length === 0
      })
      assert.equal(await readFile(`${data}/vol-data/note`, 'utf8'), 'kept\n')
      assert.equal(await node.agentPid(), pid, 'the agent was started again')
      await driver.end()
    },
  },
]
