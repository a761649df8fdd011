import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import { createCgroupReader } from '../../../src/system/cgroups/cgroup-reader.ts'
import { readMachine } from '../../../src/system/machine/read-machine.ts'
import type { PodSpec } from '../../../src/model/generated/core-v1.ts'
import { testContainer, testPod } from '../support/test-pod.ts'
import { TestNode } from '../support/test-node.ts'

/** Whole CPUs, and memory of the only node that machines of tests are sure to have. */
const AGENT = {
  config: {
    cpuManagerPolicy: 'static',
    reservedSystemCPUs: '0',
    memoryManagerPolicy: 'Static',
    kubeReserved: { memory: '64Mi' },
    reservedMemory: [{ numaNode: 0, limits: { memory: '64Mi' } }],
    topologyManagerPolicy: 'best-effort',
  },
}
const ALL = { cpu: '1', memory: '32Mi' }

interface RuntimeSpec {
  readonly linux?: { readonly resources?: { readonly cpu?: { readonly mems?: string } } }
}

function sleeper(resources: object): Partial<PodSpec> {
  return {
    terminationGracePeriodSeconds: 1,
    containers: [testContainer('main', 'echo started; exec sleep 1000', { resources })],
  }
}

/** A whole CPU of two, so that no other pod can have one. */
const alone = sleeper({ requests: ALL, limits: ALL })

describe('containers with CPUs and memory for themselves', () => {
  let node: TestNode

  before(async () => {
    node = await TestNode.start(AGENT)
  })

  after(() => node[Symbol.asyncDispose]())

  /** The CPUs on which the kernel lets the process of a pod run. */
  async function cpusOf(pod: string): Promise<string> {
    const [container] = await node.running(pod)
    const { pid } = await node.inspect(container?.id ?? '')
    const { stdout } = await node.lab.runInside(['cat', `/proc/${pid}/status`])
    return /^Cpus_allowed_list:\t(.*)$/m.exec(stdout)?.[1] ?? ''
  }

  const runsOn = async (pod: string, cpus: string) =>
    await node.waitFor(`pod "${pod}" to run on CPU ${cpus}`, async () => (await cpusOf(pod)) === cpus)

  /** Whether a quota holds for a pod, and for the containers in it. */
  function quotasOf({ uid }: { readonly uid: string }): readonly string[] {
    const reader = createCgroupReader(readMachine().cgroupVersion)
    const path = `${node.lab.cgroupRoot}/kubepods/pod${uid}`
    const file = reader.version === 1 ? 'cpu.cfs_quota_us' : 'cpu.max'
    const folders = [path, ...reader.children(path).map((name) => `${path}/${name}`)]
    return folders.map((folder) => (/^(-1|max)/.test(reader.read('cpu', folder, file) ?? '') ? 'none' : 'some'))
  }

  /** The memory nodes that the runtime was given for the container of a pod. */
  async function memsOf(pod: string): Promise<string | undefined> {
    const [container] = await node.running(pod)
    const request = { containerId: container?.id ?? '', verbose: true }
    const { info, status } = await node.runtime.containerStatus(request, new AbortController().signal)
    // Docker has no other words than these for what it was given.
    if (node.lab.runtime.name === 'docker') return status?.resources?.linux?.cpusetMems || undefined
    const { runtimeSpec } = JSON.parse(info['info'] ?? '{}') as { runtimeSpec?: RuntimeSpec }
    return runtimeSpec?.linux?.resources?.cpu?.mems
  }

  const stateFile = () => `${node.agent.rootDir}/cpu_manager_state`
  const memoryFile = () => `${node.agent.rootDir}/memory_manager_state`

  test('one has a CPU alone, the others make way, and a second one is rejected', async () => {
    await node.lab.manifests.write('shared', testPod('shared', sleeper({})))
    await node.ready('shared')
    assert.equal(await cpusOf('shared'), '0-1')
    await node.lab.manifests.write('alone', testPod('alone', alone))
    const { metadata } = await node.ready('alone')
    assert.equal(await cpusOf('alone'), '1')
    await runsOn('shared', '0')
    assert.deepEqual(quotasOf(metadata), ['none', 'none', 'none'], 'of the pod, its sandbox and its container')
    await node.lab.manifests.write('late', testPod('late', alone))
    const { status } = await node.podIs('late', 'rejected', ({ status }) => status?.phase === 'Failed')
    const why = 'not enough cpus available to satisfy request: requested=1, available=0'
    assert.deepEqual(
      [status?.reason, status?.message],
      ['UnexpectedAdmissionError', `Pod was rejected: Allocate failed due to ${why}, which is unexpected`],
    )
    await node.lab.manifests.remove('late')
    const { entries } = JSON.parse(await readFile(stateFile(), 'utf8')) as { entries: object }
    assert.deepEqual(entries, { [metadata.uid]: { main: '1' } })
    assert.deepEqual([await memsOf('alone'), await memsOf('shared')], ['0', undefined])
    const memory = JSON.parse(await readFile(memoryFile(), 'utf8')) as { entries: object }
    assert.deepEqual(memory.entries, {
      [metadata.uid]: { main: [{ numaAffinity: [0], type: 'memory', size: 32 * 2 ** 20 }] },
    })
  })

  test('what is recorded of it can be lost while no agent runs', async () => {
    const before = await node.processes()
    const record = await readFile(stateFile(), 'utf8')
    await node.agent.kill('SIGKILL')
    await writeFile(stateFile(), record.replace('"1"', '"0"'))
    const memoryRecord = await readFile(memoryFile(), 'utf8')
    await writeFile(memoryFile(), memoryRecord.slice(0, 100))
    await node.startAgent()
    await node.agent.healthy()
    await node.logged('cannot read which CPUs containers have')
    await node.logged('cannot read which memory containers have')
    await node.ready('alone')
    await node.waitFor('the same record', async () => (await readFile(stateFile(), 'utf8')) === record)
    await node.waitFor('the same record', async () => (await readFile(memoryFile(), 'utf8')) === memoryRecord)
    assert.deepEqual([await cpusOf('alone'), await cpusOf('shared')], ['1', '0'])
    assert.deepEqual(await node.processes(), before)
  })

  test('its CPU is for all again when it has gone', async () => {
    await node.lab.manifests.remove('alone')
    await runsOn('shared', '0-1')
    for (const file of [stateFile(), memoryFile()])
      await node.waitFor('nothing to be recorded', async () => !(await readFile(file, 'utf8')).includes('entries'))
  })
})
