import assert from 'node:assert/strict'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import { createCgroupReader } from '../../../src/system/cgroups/cgroup-reader.ts'
import { readMachine } from '../../../src/system/machine/read-machine.ts'
import type { Container, ResourceRequirements } from '../../../src/model/generated/core-v1.ts'
import type { Pod } from '../../../src/model/pod/pod.ts'
import { parseQuantity, quantityMilliValue } from '../../../src/model/resources/quantity.ts'
import { parseAllocations } from '../../../src/pods/allocations/allocation-state-file.ts'
import { readPodCgroup } from '../../../src/node/cgroups/read-pod-cgroup.ts'
import { StandaloneNode } from '../support/standalone-node.ts'
import { scripts, testContainer, testPod } from '../support/test-pod.ts'

const MIB = 1024n ** 2n
// kubectl knows the subresource from here on; older ones still send what they are given.
const MINOR_WITH_RESIZE = 32

const sized = (milli: number, mebi: number): ResourceRequirements => ({
  requests: { cpu: `${milli}m`, memory: `${mebi}Mi` },
  limits: { cpu: `${2 * milli}m`, memory: `${mebi}Mi` },
})
const pod = (name: string, resources: ResourceRequirements, parts: Partial<Container> = {}) =>
  testPod(name, { containers: [testContainer('main', scripts.obedient, { resources, ...parts })] })

const main = ({ status }: Pod) => status?.containerStatuses?.[0]
const resizeConditions = ({ status }: Pod) =>
  (status?.conditions ?? []).filter(({ type }) => type.startsWith('PodResize')).map(({ reason = '-' }) => reason)
/** The API shows that the container has this memory, and that nothing is left to do. */
const hasMemory =
  (mebi: number) =>
  (each: Pod): boolean =>
    main(each)?.allocatedResources?.['memory'] === `${mebi}Mi` &&
    main(each)?.resources?.limits?.['memory'] === `${mebi}Mi` &&
    resizeConditions(each).length === 0

const reader = createCgroupReader(readMachine().cgroupVersion)
let node: StandaloneNode
let minor = 0
before(async () => {
  node = await StandaloneNode.start()
  const version = await node.kubectl('version', '--client', '-o', 'json')
  minor = Number.parseInt((JSON.parse(version) as { clientVersion: { minor: string } }).clientVersion.minor)
})
after(async () => await node[Symbol.asyncDispose]())

async function resize(name: string, resources: ResourceRequirements): Promise<void> {
  const patch = JSON.stringify({ spec: { containers: [{ name: 'main', resources }] } })
  if (minor >= MINOR_WITH_RESIZE) {
    await node.kubectl('patch', 'pod', name, '--subresource', 'resize', '-p', patch)
    return
  }
  const path = `/api/v1/namespaces/default/pods/${name}`
  const old = await node.get<Pod>(path)
  assert.ok(old)
  const containers = old.spec.containers.map((container) => ({ ...container, resources }))
  await node.replace(`${path}/resize`, { ...old, spec: { ...old.spec, containers } })
}

/** What the kernel has for the pod and for its only container: quota and memory of each. */
async function inForce(each: Pod): Promise<readonly (bigint | undefined)[]> {
  const ofPod = readPodCgroup(reader, `${node.lab.cgroupRoot}/node/kubepods/burstable/pod${each.metadata.uid}`)
  const script =
    reader.version === 1
      ? 'cd /sys/fs/cgroup; cat cpu/cpu.cfs_quota_us memory/memory.limit_in_bytes'
      : 'cd /sys/fs/cgroup; cat cpu.max memory.max'
  const [quota = '', memory = ''] = (await node.runIn(each, 'sh', '-c', script)).trim().split('\n')
  return [ofPod.cpuQuota, ofPod.memoryLimitBytes, BigInt(quota.split(' ')[0] ?? ''), BigInt(memory)]
}

const reasons = async (name: string) => (await node.events(name)).map(({ reason }) => reason ?? '')

describe('pods that ask for other resources while they run', { concurrency: 4 }, () => {
  test('get more and less of them, and go on as they were', async () => {
    await node.apply(pod('web', sized(30, 64)))
    const first = await node.ready('web')
    assert.deepEqual(await inForce(first), [6000n, 64n * MIB, 6000n, 64n * MIB])
    await resize('web', sized(60, 128))
    const larger = await node.podIs('web', 'larger', hasMemory(128))
    assert.deepEqual(await inForce(larger), [12_000n, 128n * MIB, 12_000n, 128n * MIB])
    assert.deepEqual(larger.status?.resources, {
      limits: { cpu: '120m', memory: '128Mi' },
      requests: { cpu: '60m', memory: '128Mi' },
    })
    await resize('web', sized(20, 32))
    const smaller = await node.podIs('web', 'smaller', hasMemory(32))
    assert.deepEqual(await inForce(smaller), [4000n, 32n * MIB, 4000n, 32n * MIB])
    assert.equal(main(smaller)?.containerID, main(first)?.containerID)
    assert.equal(main(smaller)?.restartCount, 0)
    await node.waitFor('the events', async () => {
      const reported = await reasons('web')
      return (
        ['ResizeStarted', 'ResizeCompleted'].every((reason) => reported.includes(reason)) &&
        !reported.includes('Killing')
      )
    })
    await node.kubectl('delete', 'pod', 'web', '--wait=false')
  })

  test('restart where their policy says so', async () => {
    const resizePolicy = [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }]
    await node.apply(pod('choosy', sized(30, 64), { resizePolicy }))
    const first = await node.ready('choosy')
    await resize('choosy', sized(60, 64))
    const same = await node.podIs('choosy', 'faster', (each) => main(each)?.resources?.limits?.['cpu'] === '120m')
    assert.equal(main(same)?.containerID, main(first)?.containerID)
    await resize('choosy', sized(60, 96))
    const again = await node.podIs('choosy', 'larger', (each) => hasMemory(96)(each) && main(each)?.ready === true)
    assert.equal(main(again)?.restartCount, 1)
    assert.deepEqual(await inForce(again), [12_000n, 96n * MIB, 12_000n, 96n * MIB])
    await node.kubectl('delete', 'pod', 'choosy', '--wait=false')
  })

  test('wait for room, and get it when another pod leaves', async () => {
    const { status } = await node.node()
    const cpus = Number(quantityMilliValue(parseQuantity(status?.allocatable?.['cpu'] ?? '0')))
    await node.apply(pod('big', { requests: { cpu: `${cpus / 2}m` } }), pod('patient', sized(50, 32)))
    await Promise.all([node.ready('big'), node.ready('patient')])
    // Too much beside the big one, and not without it.
    const wanted = Math.floor(cpus * 0.65)
    await resize('patient', sized(wanted, 32))
    const waiting = await node.podIs('patient', 'put off', (each) => resizeConditions(each).includes('Deferred'))
    assert.equal(main(waiting)?.allocatedResources?.['cpu'], '50m')
    await node.kubectl('delete', 'pod', 'big', '--wait=false', '--grace-period=1')
    const served = await node.podIs(
      'patient',
      'served',
      (each) => main(each)?.allocatedResources?.['cpu'] === `${wanted}m` && hasMemory(32)(each),
    )
    assert.deepEqual(await inForce(served), [BigInt(200 * wanted), 32n * MIB, BigInt(200 * wanted), 32n * MIB])
    assert.equal(main(served)?.restartCount, 0)
    await node.kubectl('delete', 'pod', 'patient', '--wait=false')
  })

  test('keep memory that they use, and say why', async () => {
    const script = `dd if=/dev/zero of=/dev/shm/used bs=1M count=40 2> /dev/null; ${scripts.obedient}`
    const shm = [{ name: 'shm', mountPath: '/dev/shm' }]
    const container = testContainer('main', script, { resources: sized(30, 96), volumeMounts: shm })
    await node.apply(
      testPod('full', { containers: [container], volumes: [{ name: 'shm', emptyDir: { medium: 'Memory' } }] }),
    )
    const first = await node.ready('full')
    await node.waitFor('the memory to be used', async () => (await node.logLines(first)).length > 0)
    await resize('full', sized(30, 32))
    const stuck = await node.podIs('full', 'failed', (each) => resizeConditions(each).includes('Error'))
    assert.equal(main(stuck)?.resources?.limits?.['memory'], '96Mi')
    assert.deepEqual((await inForce(stuck)).slice(1), [96n * MIB, 6000n, 96n * MIB])
    await node.runIn(stuck, 'rm', '/dev/shm/used')
    await node.kubectl('annotate', 'pod', 'full', 'check=again')
    const done = await node.podIs('full', 'smaller', hasMemory(32))
    assert.equal(main(done)?.restartCount, 0)
    await node.kubectl('delete', 'pod', 'full', '--wait=false')
  })
})

describe('pods that ask for other resources while agents die', () => {
  test('are resized by the next agent when one is killed, and keep all when its files are broken', async () => {
    await node.apply(pod('lasting', sized(30, 64)))
    const first = await node.ready('lasting')
    for (const mebi of [48, 128]) {
      await Promise.all([resize('lasting', sized(mebi, mebi)), node.killAgent()])
      const resized = await node.podIs('lasting', `of ${mebi} MiB`, hasMemory(mebi))
      assert.deepEqual((await inForce(resized)).slice(1), [
        BigInt(mebi) * MIB,
        BigInt(2 * mebi) * 100n,
        BigInt(mebi) * MIB,
      ])
    }
    const root = `${node.state}/kubelet`
    for (const name of ['allocated_pods_state', 'actuated_pods_state']) await writeFile(`${root}/${name}`, '{"data":"')
    await node.killAgent()
    await node.waitFor('the broken files to be set aside', async () => {
      const names = await readdir(root)
      return ['allocated', 'actuated'].every((each) =>
        names.some((name) => name.startsWith(`${each}_pods_state.broken-`)),
      )
    })
    const kept = await node.waitFor('what was rebuilt', async () => {
      const text = await readFile(`${root}/allocated_pods_state`, 'utf8').catch(() => undefined)
      return text !== undefined && parseAllocations(text).get(first.metadata.uid)
    })
    assert.equal(kept.containers.get('main')?.limits?.['memory'], '128Mi')
    await resize('lasting', sized(100, 64))
    const last = await node.podIs('lasting', 'small again', hasMemory(64))
    assert.equal(main(last)?.containerID, main(first)?.containerID)
    assert.equal(main(last)?.restartCount, 0)
  })
})
