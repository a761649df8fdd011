import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { openCgroupFiles } from '../../../src/system/cgroups/cgroup-files.ts'
import { readMachine } from '../../../src/system/machine/read-machine.ts'
import type { Container, PodSpec } from '../../../src/model/generated/core-v1.ts'
import { NODE_NAME } from '../lab/lab-agent.ts'
import { GuardedNode } from '../support/guarded-node.ts'
import { scripts, testContainer } from '../support/test-pod.ts'

const machine = readMachine()
const MIB = 2 ** 20
// All pods together have so much: in the lab only they can run short.
const PODS_MIB = 300
const PIDS = 64

const single = (script: string, container: Partial<Container>, spec: Partial<PodSpec> = {}): Partial<PodSpec> => ({
  terminationGracePeriodSeconds: 30,
  automountServiceAccountToken: false,
  containers: [testContainer('main', script, container)],
  ...spec,
})
const asking = (memory: string) => ({ resources: { requests: { memory } } })

/** Holds so much memory, but requests little. */
const hog = (mebibytes: number, spec: Partial<PodSpec> = {}) =>
  single(`dd if=/dev/zero bs=${mebibytes}M count=1 | sleep 1000`, asking('8Mi'), spec)

const sure = { memory: '16Mi', cpu: '50m' }
const guaranteed = single(scripts.obedient, { resources: { requests: sure, limits: sure } })

/** Starts processes without end and logs the first ones that it cannot start. It would take all of the CPUs too. */
const bomb = single('(while :; do sleep 1000 & done); while :; do (while :; do sleep 1000 & done) 2> /dev/null; done', {
  resources: { limits: { cpu: '200m', memory: '64Mi' } },
})

const server = single('echo here > /tmp/index.html; exec httpd -f -p 8080 -h /tmp', {
  ...asking('8Mi'),
  readinessProbe: { httpGet: { path: '/index.html', port: 8080 }, periodSeconds: 1 },
})

describe('a node that protects itself', () => {
  let node: GuardedNode
  before(async () => {
    node = await GuardedNode.start({
      config: {
        systemReserved: { memory: String(machine.memoryBytes - BigInt(PODS_MIB * MIB)) },
        enforceNodeAllocatable: ['pods'],
        podPidsLimit: PIDS,
        serverTLSBootstrap: true,
        evictionHard: { 'memory.available': '100Mi' },
        // It only warns: no pod is evicted for it while the test runs.
        evictionSoft: { 'allocatableMemory.available': '200Mi' },
        evictionSoftGracePeriod: { 'allocatableMemory.available': '1h' },
        evictionPressureTransitionPeriod: '1s',
        kernelMemcgNotification: true,
      },
    })
  })
  after(() => node[Symbol.asyncDispose]())

  test('from want of memory reports it, and admits no pod without requests', async () => {
    await node.create({ sure: guaranteed, modest: single(scripts.obedient, asking('16Mi')) })
    await Promise.all(['sure', 'modest'].map((name) => node.running(name)))
    await node.kubectl(['create', 'priorityclass', 'important', '--value=1000'])
    await node.create({ important: hog(120, { priorityClassName: 'important' }) })
    await node.conditionIs('MemoryPressure', 'True')
    await node.create({ unasked: single(scripts.obedient, {}), asked: single(scripts.obedient, asking('8Mi')) })
    const { status } = await node.failed('unasked')
    assert.deepEqual(
      [status?.reason, status?.message],
      ['Evicted', 'Pod was rejected: The node had condition: [MemoryPressure]. '],
    )
    await node.running('asked')
  })

  test('from want of memory evicts the least important of the pods that take too much, no other pod', async () => {
    await node.create({ hog: hog(90) })
    const { status } = await node.failed('hog')
    assert.equal(status?.reason, 'Evicted')
    const message = status?.message ?? ''
    assert.match(message, /^The node was low on resource: memory\. Threshold quantity: 100Mi, available: \d+Ki\. /)
    // A whole number of Mi is written as such.
    assert.match(message, /Container main was using \d+[KM]i, request is 8Mi, has larger consumption of memory\. $/)
    const disruption = status?.conditions?.find(({ type }) => type === 'DisruptionTarget')
    assert.deepEqual([disruption?.reason, disruption?.message], ['TerminationByKubelet', message])
    const reported = await node.waitFor('the event', async () =>
      (await node.events('hog')).find(({ reason }) => reason === 'Evicted'),
    )
    assert.equal(reported.message, message)
    assert.equal(reported.metadata?.annotations?.['starved_resource'], 'memory')
    assert.equal(reported.metadata?.annotations?.['offending_containers'], 'main')
    // It takes more than the evicted one, but that only crosses a threshold that warns.
    for (const name of ['important', 'sure', 'modest', 'asked']) {
      assert.equal((await node.running(name)).status?.containerStatuses?.[0]?.restartCount, 0, name)
      assert.ok(!(await node.reasons(name)).includes('Evicted'), name)
    }
  })

  test('admits all pods again when there is enough memory', async () => {
    await node.kubectl(['delete', 'pod', 'important', '--now', '--wait=false'])
    await node.conditionIs('MemoryPressure', 'False')
    await node.create({ welcome: single(scripts.obedient, {}) })
    await node.running('welcome')
    const reasons = await node.reasons(NODE_NAME)
    for (const reason of ['EvictionThresholdMet', 'NodeHasInsufficientMemory', 'NodeHasSufficientMemory']) {
      assert.ok(reasons.includes(reason), reason)
    }
  })

  test('survives a pod that starts processes without end', async () => {
    await node.create({ bomb })
    const { metadata } = await node.running('bomb')
    await node.waitFor('the bomb to have no more processes', async () =>
      (await node.kubectl(['logs', 'bomb'])).includes("can't fork"),
    )
    const cgroup = openCgroupFiles(machine.cgroupVersion).folderOf(
      'pids',
      `${node.lab.cgroupRoot}/kubepods/pod${metadata.uid}`,
    )
    await node.create({ server })
    await node.podIs('server', 'ready', ({ status }) => status?.containerStatuses?.[0]?.ready === true)
    assert.equal(readFileSync(`${cgroup}/pids.max`, 'utf8').trim(), String(PIDS))
    assert.ok(Number(readFileSync(`${cgroup}/pids.current`, 'utf8')) <= PIDS)
    assert.equal(await node.kubectl(['exec', 'server', '--', 'cat', '/tmp/index.html']), 'here\n')
    await node.agent.healthy()
    assert.ok((await node.agent.pods()).some((pod) => pod.metadata.name === 'bomb'))

    await node.kubectl(['delete', 'pod', 'bomb', '--now'])
    await node.waitFor('the end of the bomb', async () => !existsSync(cgroup))
    assert.equal((await node.running('server')).status?.containerStatuses?.[0]?.restartCount, 0)
  })
})
