import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { openCgroupFiles } from '../../../src/system/cgroups/cgroup-files.ts'
import { createCgroupReader } from '../../../src/system/cgroups/cgroup-reader.ts'
import { cgroupFolders } from '../../../src/system/cgroups/cgroup-tree.ts'
import { readMachine } from '../../../src/system/machine/read-machine.ts'
import type { Pod } from '../../../src/model/pod/pod.ts'
import { readPodCgroup } from '../../../src/node/cgroups/read-pod-cgroup.ts'
import type { StartedProcess } from '../../../src/system/processes/start-process.ts'
import { childPid } from '../lab/lab-namespaces.ts'
import { startLab } from '../lab/start-lab.ts'
import { TestNode } from '../support/test-node.ts'
import { scripts, testContainer, testPod } from '../support/test-pod.ts'
import { waitFor } from '../support/wait-for.ts'

const machine = readMachine()
const version = machine.cgroupVersion
const MIB = 1024n ** 2n
const RESERVED = { systemReserved: { memory: '64Mi', pid: '100' }, kubeReserved: { memory: '32Mi' } }
const PIDS = 40
// As many processes as it can have, and many more that it cannot.
const BOMB = '(for i in $(seq 1 100); do sleep 1000 & done); echo over; exec sleep 1000'

describe('cgroups', () => {
  let node: TestNode
  const files = openCgroupFiles(version)
  const reader = createCgroupReader(version)
  let orphanCgroup = ''
  let orphan: StartedProcess

  before(async () => {
    await using cleanup = new AsyncDisposableStack()
    const lab = cleanup.use(await startLab())
    orphanCgroup = `${lab.cgroupRoot}/kubepods/burstable/pod00000000-1111-2222-3333-444444444444`
    files.make(orphanCgroup)
    orphan = await lab.startInside(['sleep', '1000'], `${lab.folder}/orphan.log`)
    const pid = await waitFor('the orphan to run', () => childPid(orphan.pid))
    files.addProcess(orphanCgroup, pid)
    const options = { config: { ...RESERVED, podPidsLimit: PIDS, enforceNodeAllocatable: ['pods'] } }
    const agent = await lab.startAgent(options)
    node = new TestNode(lab, agent, options)
    await agent.healthy()
    cleanup.move()
  })
  after(() => node[Symbol.asyncDispose]())

  const cgroupOf = ({ metadata }: Pod, qos: '' | '/burstable' | '/besteffort') =>
    `${node.lab.cgroupRoot}/kubepods${qos}/pod${metadata.uid}`
  const inForce = (cgroup: string) => {
    const { memoryUsageBytes: _, ...limits } = readPodCgroup(reader, cgroup)
    return limits
  }
  // Shares come back from a weight of version 2 a little smaller.
  const shares = (v1: bigint, v2: bigint) => (version === 2 ? v2 : v1)
  const readPids = (cgroup: string) => readFileSync(`${files.folderOf('pids', cgroup)}/pids.max`, 'utf8').trim()
  const unlimited = { cpuQuota: -1n, cpuPeriod: 100_000n, memoryLimitBytes: undefined }

  test('of all pods have what is not reserved, and more than pods may ask for', async () => {
    await node.logged('reason="NodeAllocatableEnforced"', 'Updated Node Allocatable limit across pods')
    if (version === 1) await node.logged('reason="CgroupV1"')
    const kubepods = `${node.lab.cgroupRoot}/kubepods`
    assert.equal(inForce(kubepods).memoryLimitBytes, machine.memoryBytes - 96n * MIB)
    assert.equal(inForce(kubepods).cpuQuota, -1n)
    assert.ok(Number(readPids(kubepods)) > 0)
    assert.deepEqual(inForce(`${kubepods}/besteffort`), { ...unlimited, cpuShares: 2n })
  })

  test('that belong to no pod are removed, with what runs in them', async () => {
    await orphan.exited
    await node.waitFor('the orphan to go', async () => !files.exists(orphanCgroup))
  })

  test('of pods have what their pods ask for, and go with them', async () => {
    const { manifests } = node.lab
    const sized = { cpu: '1', memory: '1Gi' }
    const resources = { requests: sized, limits: sized }
    const asking = { requests: { cpu: '500m', memory: '32Mi' }, limits: { memory: '64Mi' } }
    await manifests.write(
      'sure',
      testPod('sure', { containers: [testContainer('main', scripts.obedient, { resources })] }),
    )
    await manifests.write(
      'loose',
      testPod('loose', { containers: [testContainer('main', scripts.obedient, { resources: asking })] }),
    )
    await manifests.write('whole', testPod('whole', { resources: { limits: { cpu: '250m', memory: '96Mi' } } }))
    const [sure, loose, whole] = await Promise.all(['sure', 'loose', 'whole'].map((name) => node.ready(name)))
    assert.ok(sure !== undefined && loose !== undefined && whole !== undefined)

    const guaranteed = cgroupOf(sure, '')
    const full = { cpuQuota: 100_000n, cpuPeriod: 100_000n, memoryLimitBytes: 1024n * MIB }
    assert.deepEqual(inForce(guaranteed), { ...full, cpuShares: shares(1024n, 998n) })
    assert.equal(readPids(guaranteed), String(PIDS))
    const burstable = { ...unlimited, cpuShares: shares(512n, 500n), memoryLimitBytes: 64n * MIB }
    assert.deepEqual(inForce(cgroupOf(loose, '/burstable')), burstable, 'without a limit of its CPUs')

    const ofWhole = inForce(cgroupOf(whole, ''))
    assert.deepEqual([ofWhole.cpuQuota, ofWhole.memoryLimitBytes], [25_000n, 96n * MIB])
    const inside = 'cat /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/memory.max 2>/dev/null; true'
    assert.equal(await node.runIn('whole', ['sh', '-c', inside]), String(96n * MIB), 'its container has the limit too')

    const shared = () => inForce(`${node.lab.cgroupRoot}/kubepods/burstable`).cpuShares
    await node.waitFor('the weight of Burstable pods', async () => shared() === shares(512n, 500n))
    await manifests.remove('loose')
    await manifests.remove('sure')
    for (const cgroup of [guaranteed, cgroupOf(loose, '/burstable')]) {
      await node.waitFor(`"${cgroup}" to go`, async () => !(await cgroupFolders(cgroup)).some(existsSync))
    }
    await node.waitFor('the weight without Burstable pods', async () => shared() === 2n)
  })

  test('of a pod end its fork bomb, and other pods do not notice', async () => {
    await node.lab.manifests.write('bomb', testPod('bomb', { containers: [testContainer('main', BOMB)] }))
    const bomb = await node.podIs('bomb', 'seen', () => true)
    const said = await node.waitFor('the end of the bomb', async () => {
      const lines = (await node.logLines(bomb).catch(() => [])).map(({ text }) => text)
      return lines.includes('over') && lines
    })
    assert.match(said.join(), /can't fork/)
    const current = `${files.folderOf('pids', cgroupOf(bomb, '/besteffort'))}/pids.current`
    assert.ok(Number(readFileSync(current, 'utf8')) <= PIDS)
    assert.ok((await node.agent.pod('whole')) !== undefined, 'the agent serves')
  })
})
