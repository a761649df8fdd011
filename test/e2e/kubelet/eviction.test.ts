import assert from 'node:assert/strict'
import { mkdir, truncate, writeFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import { NODE_NAME } from '../lab/lab-agent.ts'
import type { Lab } from '../lab/start-lab.ts'
import type { PodSpec } from '../../../src/model/generated/core-v1.ts'
import type { Pod } from '../../../src/model/pod/pod.ts'
import { GuardedNode } from '../support/guarded-node.ts'
import { testContainer } from '../support/test-pod.ts'

const MIB = 2 ** 20
const DISK_MIB = 256
const LEFT_MIB = 80
const INODES = 4096
const INODES_LEFT = 1000

function volumePod(script: string, emptyDir: object = {}): Partial<PodSpec> {
  return {
    terminationGracePeriodSeconds: 30,
    automountServiceAccountToken: false,
    containers: [testContainer('main', script, { volumeMounts: [{ name: 'data', mountPath: '/data' }] })],
    volumes: [{ name: 'data', emptyDir }],
  }
}

/** Writes so much into its emptyDir and stays. */
function writer(mebibytes: number, emptyDir: object = {}): Partial<PodSpec> {
  return volumePod(`dd if=/dev/zero of=/data/file bs=1M count=${mebibytes} 2> /dev/null; sleep 1000`, emptyDir)
}

/** Makes so many empty files in its emptyDir and stays. */
function fileMaker(files: number): Partial<PodSpec> {
  return volumePod(`i=0; while [ $i -lt ${files} ]; do : > /data/$i; i=$((i+1)); done; sleep 1000`)
}

/** Takes memory until the kernel ends it. */
const EATER: Partial<PodSpec> = {
  restartPolicy: 'Never',
  automountServiceAccountToken: false,
  containers: [testContainer('main', 'sleep 2; exec tail /dev/zero', { resources: { limits: { memory: '24Mi' } } })],
}

/** A small disk with few inodes, in the place of the root directory. */
async function mountDisk(lab: Lab): Promise<void> {
  const [root, image] = [`${lab.folder}/kubelet`, `${lab.folder}/disk`]
  await Promise.all([mkdir(root), writeFile(image, '')])
  await truncate(image, DISK_MIB * MIB)
  for (const argv of [
    ['mkfs.ext4', '-q', '-m', '0', '-N', String(INODES), image],
    ['mount', '-o', 'loop', image, root],
  ])
    assert.deepEqual((await lab.runInside(argv)).exitCode, 0, argv.join(' '))
}

describe('a node that runs short', () => {
  let node: GuardedNode
  before(async () => {
    node = await GuardedNode.start({
      prepare: mountDisk,
      config: {
        evictionHard: { 'nodefs.available': `${LEFT_MIB}Mi`, 'nodefs.inodesFree': String(INODES_LEFT) },
        evictionPressureTransitionPeriod: '1s',
        localStorageCapacityIsolation: true,
        volumeStatsAggPeriod: '1s',
      },
    })
  })
  after(() => node[Symbol.asyncDispose]())

  /** What the agent itself reports of a pod once it has failed: the API gets it later. */
  const failure = async (name: string) =>
    await node.waitFor(`${name} to be evicted`, async () => {
      const { status } = (await node.agent.pod(name)) ?? {}
      return status?.phase === 'Failed' && status
    })
  const hasStarted = ({ status }: Pod) => {
    const { running, terminated } = status?.containerStatuses?.[0]?.state ?? {}
    return running !== undefined || terminated !== undefined
  }
  const statusOf = async (name: string) => (await node.podIs(name, 'known', () => true)).status
  const disruptionOf = ({ conditions }: Awaited<ReturnType<typeof failure>>) => {
    const found = conditions?.find(({ type }) => type === 'DisruptionTarget')
    return found && [found.status, found.reason]
  }

  test('of nothing evicts pods that exceed their limit through their termination log, their log, or files of their sandbox', async () => {
    const scripts = {
      // Files that the runtime mounts in every container, and that are no part of its layer.
      resolver: 'dd if=/dev/zero of=/etc/resolv.conf bs=1M count=30 2> /dev/null; sleep 1000',
      namer: 'dd if=/dev/zero of=/etc/hostname bs=1M count=30 2> /dev/null; sleep 1000',
      talker: 'dd if=/dev/zero of=/dev/termination-log bs=1M count=30 2> /dev/null; sleep 1000',
      // Lines of a usual length; on Docker this is in a folder of Docker's.
      logger: 'yes "$(head -c 900 /dev/zero | tr "\\0" x)" | head -c 14m; sleep 1000',
    }
    const resources = { limits: { 'ephemeral-storage': '10Mi' } }
    const toSpec = (script: string) => {
      return { automountServiceAccountToken: false, containers: [testContainer('main', script, { resources })] }
    }
    await node.create(Object.fromEntries(Object.entries(scripts).map(([name, script]) => [name, toSpec(script)])))
    for (const name of Object.keys(scripts)) {
      const { reason, message } = await failure(name)
      assert.deepEqual(
        [reason, message],
        ['Evicted', 'Pod ephemeral local storage usage exceeds the total limit of containers 10Mi. '],
        name,
      )
    }
  })

  test('of nothing bounds what pods without a limit write to their termination logs', async () => {
    const script =
      'i=0; while [ $i -lt 60 ]; do dd if=/dev/zero bs=1M count=1 2> /dev/null >> /dev/termination-log; sleep 0.05; i=$((i + 1)); done; touch /done; sleep 1000'
    const ready = { exec: { command: ['cat', '/done'] }, periodSeconds: 1 }
    const container = testContainer('main', script, { readinessProbe: ready })
    await node.create({ flooder: { automountServiceAccountToken: false, containers: [container] } })
    const { metadata } = await node.podIs('flooder', 'known', () => true)
    const kibibytes = async () => {
      const path = `${node.lab.folder}/kubelet/pods/${metadata.uid}/containers`
      const { stdout } = await node.lab.runInside(['du', '-sk', path])
      return Number.parseInt(stdout, 10)
    }
    let most = 0
    await node.waitFor('all to be written', async () => {
      most = Math.max(most, (await kibibytes()) || 0)
      const { status } = await node.podIs('flooder', 'known', () => true)
      return status?.containerStatuses?.[0]?.ready === true
    })
    assert.ok(most < 30 * 1024, `${most} KiB`)
    assert.ok((await kibibytes()) < 2 * 1024)
  })

  test('of disk evicts the pod that takes too much, no other pod, and reports the pressure while it lasts', async () => {
    await node.create({ eater: EATER, innocent: writer(4, { sizeLimit: '8Mi' }) })
    // A pod of which nothing runs yet could be anything, and would go first.
    for (const name of ['eater', 'innocent']) await node.podIs(name, 'started', hasStarted)
    await node.create({ greedy: writer(20, { sizeLimit: '8Mi' }), filler: writer(DISK_MIB - LEFT_MIB) })
    const [greedy, filler] = await Promise.all([failure('greedy'), failure('filler')])
    assert.equal(greedy.reason, 'Evicted')
    assert.equal(greedy.message, 'Usage of EmptyDir volume "data" exceeds the limit "8Mi". ')
    assert.equal(disruptionOf(greedy), undefined)
    assert.equal(filler.reason, 'Evicted')
    assert.match(
      filler.message ?? '',
      /^The node was low on resource: ephemeral-storage\. Threshold quantity: 80Mi, available: /,
    )
    assert.deepEqual(disruptionOf(filler), ['True', 'TerminationByKubelet'])

    // Its start was reported before, so this is its end.
    await node.waitFor('disk pressure', async () => (await node.reasons(NODE_NAME)).includes('NodeHasDiskPressure'))
    await node.conditionIs('DiskPressure', 'False')
    assert.equal((await statusOf('innocent'))?.phase, 'Running')
    assert.equal((await statusOf('greedy'))?.reason, 'Evicted')
    assert.equal((await statusOf('filler'))?.reason, 'Evicted')
    assert.ok((await node.reasons(NODE_NAME)).includes('EvictionThresholdMet'))
    assert.ok((await node.reasons('filler')).includes('Evicted'))
    assert.ok(!(await node.reasons('innocent')).includes('Evicted'))
    await node.create({ late: writer(1) })
    await node.running('late')
  })

  test('of inodes evicts the pod with the most files, no other pod', async () => {
    await node.create({ small: fileMaker(20) })
    await node.running('small')
    await node.create({ hoarder: fileMaker(INODES - INODES_LEFT) })
    const hoarder = await failure('hoarder')
    assert.equal(hoarder.reason, 'Evicted')
    assert.match(
      hoarder.message ?? '',
      /^The node was low on resource: inodes\. Threshold quantity: 1k, available: \d+\. $/,
    )
    assert.deepEqual(disruptionOf(hoarder), ['True', 'TerminationByKubelet'])
    await node.waitFor('the event', async () =>
      (await node.events(NODE_NAME)).some(({ message }) => message === 'Attempting to reclaim inodes'),
    )
    // A pod is admitted again as soon as there is no pressure.
    await node.conditionIs('DiskPressure', 'False')
    await node.create({ later: fileMaker(1) })
    await node.running('later')
    for (const name of ['innocent', 'late', 'small']) assert.equal((await statusOf(name))?.phase, 'Running', name)
  })

  test('reports whose process the kernel killed for want of memory', async () => {
    const { status } = await node.failed('eater')
    assert.equal(status?.containerStatuses?.[0]?.state?.terminated?.reason, 'OOMKilled')
    const reported = await node.waitFor('an event about it', async () =>
      (await node.events('eater')).find(({ reason }) => reason === 'OOMKilling'),
    )
    assert.match(reported.message ?? '', /^Container main ran out of memory, victim process: tail, pid: \d+$/)
    assert.equal(reported.involvedObject.fieldPath, 'spec.containers{main}')
  })
})
