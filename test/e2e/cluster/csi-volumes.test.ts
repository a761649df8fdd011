import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import process from 'node:process'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { StartedProcess } from '../../../src/system/processes/start-process.ts'
import { childPid } from '../lab/lab-namespaces.ts'
import { StandaloneNode } from '../support/standalone-node.ts'
import { isReady } from '../support/test-node.ts'
import { testContainer, testPod } from '../support/test-pod.ts'

const DRIVER = 'disk.example.com'
const program = fileURLToPath(new URL('../../fakes/run-fake-csi-driver.ts', import.meta.url))

describe('volumes of a CSI driver', () => {
  let node: StandaloneNode
  let root = ''
  let data = ''
  let driver: StartedProcess | undefined
  let starts = 0
  before(async () => {
    node = await StandaloneNode.start()
    root = `${node.state}/kubelet`
    data = `${node.lab.folder}/disks`
    await mkdir(data)
  })
  after(async () => await node[Symbol.asyncDispose]())

  const startDriver = async () => {
    starts += 1
    const socket = `${root}/plugins_registry/${DRIVER}.sock`
    const options = { name: DRIVER, folder: data, capabilities: ['STAGE_UNSTAGE_VOLUME'] }
    const argv = [process.execPath, program, socket, JSON.stringify(options)]
    driver = await node.lab.startInside(argv, `${node.lab.folder}/driver-${starts}.log`)
    await node.waitFor('the driver to serve', async () => (await callsOf(starts)).includes('ready'))
  }
  const endDriver = async () => {
    if (driver === undefined) return
    process.kill((await childPid(driver.pid)) ?? 0, 'SIGTERM')
    await driver.exited
    driver = undefined
  }
  const callsOf = async (start: number): Promise<readonly string[]> => {
    const text = await readFile(`${node.lab.folder}/driver-${start}.log`, 'utf8').catch(() => '')
    const lines = text.split('\n').filter((line) => line.endsWith('}'))
    return lines.map((line) => (JSON.parse(line) as { readonly method: string }).method)
  }
  const mountsBelow = async (path: string): Promise<readonly string[]> => {
    const { stdout } = await node.lab.runInside(['cat', '/proc/self/mountinfo'])
    const points = stdout.split('\n').map((line) => line.split(' ')[4] ?? '')
    return points.filter((point) => point.startsWith(path)).toSorted()
  }
  const common = { accessModes: ['ReadWriteOnce'], storageClassName: '' }
  const objects = [
    {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'CSIDriver',
      metadata: { name: DRIVER },
      spec: { attachRequired: false, podInfoOnMount: true },
    },
    {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: 'pv-data' },
      spec: { ...common, capacity: { storage: '1Gi' }, csi: { driver: DRIVER, volumeHandle: 'vol-data' } },
    },
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'data', namespace: 'default' },
      spec: { ...common, resources: { requests: { storage: '1Gi' } } },
    },
  ]
  const podWith = (name: string) =>
    testPod(name, {
      terminationGracePeriodSeconds: 0,
      automountServiceAccountToken: false,
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
      containers: [testContainer('main', 'sleep 1000', { volumeMounts: [{ name: 'data', mountPath: '/data' }] })],
    })

  test('two pods share one; agent and driver may end and start again; what is left goes without the objects, all of it but the data', async () => {
    await startDriver()
    await node.apply(...objects, podWith('one'), podWith('two'))
    const [one, two] = [await node.ready('one'), await node.ready('two')]
    await node.runIn(one, 'sh', '-c', 'echo kept > /data/note')
    assert.equal((await node.runIn(two, 'cat', '/data/note')).trim(), 'kept')
    assert.equal((await callsOf(1)).filter((call) => call === 'nodeStageVolume').length, 1)

    await node.killAgent()
    await node.waitFor('the next agent to know both', async () => (await node.agentPods()).filter(isReady).length === 2)
    await node.waitFor('both to be published again', async () => {
      return (await callsOf(1)).filter((call) => call === 'nodePublishVolume').length === 4
    })
    const paths = [one, two].map(
      ({ metadata: { uid } }) => `${root}/pods/${uid}/volumes/kubernetes.io~csi/pv-data/mount`,
    )
    assert.deepEqual(await mountsBelow(`${root}/pods/`), paths.toSorted())
    const same = await node.ready('one')
    assert.deepEqual(same.status?.containerStatuses, one.status?.containerStatuses)

    await endDriver()
    await node.kubectl('delete', 'pv,pvc', '--all', '--wait=false')
    await node.kubectl('delete', 'pod', 'one', 'two', '--wait=false')
    const reported = `not found in the list of registered CSI drivers`
    await node.waitFor('the pods to wait for their driver', async () =>
      (await node.deckhand('why', 'one')).stdout.includes(reported),
    )
    await node.killAgent()
    await startDriver()
    await Promise.all([node.gone('one'), node.gone('two')])
    const staging = `${root}/plugins/kubernetes.io/csi/${DRIVER}`
    await node.waitFor(
      'the volume to be unstaged',
      async () => existsSync(staging) && readdirSync(staging).length === 0,
    )
    assert.deepEqual(await mountsBelow(`${root}/`), [])
    for (const path of paths) assert.equal(existsSync(dirname(dirname(path))), false)
    assert.equal(await readFile(`${data}/vol-data/note`, 'utf8'), 'kept\n')
    const calls = await callsOf(2)
    assert.ok(calls.lastIndexOf('nodeUnpublishVolume') < calls.indexOf('nodeUnstageVolume'), 'unstaged last')
    await endDriver()
  })
})
