import assert from 'node:assert/strict'
import { mkdir, readFile, truncate, writeFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { NODE_NAME } from '../lab/lab-agent.ts'
import type { LabAgent } from '../lab/lab-agent.ts'
import { startLab } from '../lab/start-lab.ts'
import type { Lab } from '../lab/start-lab.ts'
import type { Event, Node, PodSpec } from '../../../src/model/generated/core-v1.ts'
import type { Pod } from '../../../src/model/pod.ts'
import { testContainer, testPod } from '../support/test-pod.ts'
import { waitFor } from '../support/wait-for.ts'

const serveApi = fileURLToPath(new URL('../support/serve-api.ts', import.meta.url))
const MIB = 2 ** 20
const DISK_MIB = 256
const LEFT_MIB = 80

/** Writes so much into its emptyDir and stays. */
function writer(mebibytes: number, emptyDir: object = {}): Partial<PodSpec> {
  const script = `dd if=/dev/zero of=/data/file bs=1M count=${mebibytes} 2> /dev/null; sleep 1000`
  return {
    terminationGracePeriodSeconds: 30,
    automountServiceAccountToken: false,
    containers: [testContainer('main', script, { volumeMounts: [{ name: 'data', mountPath: '/data' }] })],
    volumes: [{ name: 'data', emptyDir }],
  }
}

/** Takes memory until the kernel ends it. */
const EATER: Partial<PodSpec> = {
  restartPolicy: 'Never',
  automountServiceAccountToken: false,
  containers: [testContainer('main', 'sleep 2; exec tail /dev/zero', { resources: { limits: { memory: '24Mi' } } })],
}

describe('a node that runs short', () => {
  let lab: Lab
  let agent: LabAgent

  async function kubectl(args: readonly string[], stdin = ''): Promise<string> {
    const argv = ['kubectl', '--kubeconfig', `${lab.folder}/api/admin`, ...args]
    const { exitCode, stdout, stderr } = await lab.runInside(argv, { stdin })
    if (exitCode !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`)
    return stdout
  }

  async function create(pods: Readonly<Record<string, Partial<PodSpec>>>): Promise<void> {
    const items = Object.entries(pods).map(([name, spec]) => testPod(name, spec))
    await kubectl(['create', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
  }

  async function isTrue<T>(what: string, ask: () => Promise<T | undefined | false>): Promise<T> {
    return await waitFor(what, ask, {
      ms: 60_000,
      pollMs: 300,
      context: async () => (await agent.log()).slice(-40).join('\n'),
    })
  }

  const get = async <T>(...what: readonly string[]) => JSON.parse(await kubectl(['get', ...what, '-o', 'json'])) as T
  const statusOf = async (name: string) => (await get<Pod>('pod', name)).status
  const reasonsOf = async (name: string) =>
    (await get<{ items: Event[] }>('events', '-A')).items.flatMap(({ involvedObject, reason }) =>
      involvedObject.name === name ? [reason ?? ''] : [],
    )

  before(async () => {
    lab = await startLab()
    const [root, image] = [`${lab.folder}/kubelet`, `${lab.folder}/disk`]
    await Promise.all([mkdir(root), mkdir(`${lab.folder}/api`), writeFile(image, '')])
    await truncate(image, DISK_MIB * MIB)
    for (const argv of [
      ['mkfs.ext4', '-q', '-m', '0', image],
      ['mount', '-o', 'loop', image, root],
    ])
      assert.deepEqual((await lab.runInside(argv)).exitCode, 0, argv.join(' '))
    await lab.startInside([process.execPath, serveApi, `${lab.folder}/api`], `${lab.folder}/api.out`)
    await waitFor('the API', async () => (await readFile(`${lab.folder}/api.out`, 'utf8')).includes('ready'))
    agent = await lab.startAgent({
      flags: [`--kubeconfig=${lab.folder}/api/agent`],
      config: {
        evictionHard: { 'nodefs.available': `${LEFT_MIB}Mi` },
        evictionPressureTransitionPeriod: '1s',
        localStorageCapacityIsolation: true,
        volumeStatsAggPeriod: '1s',
      },
    })
    await agent.healthy()
  })
  after(() => lab[Symbol.asyncDispose]())

  test('of disk evicts who takes too much, nobody else, and says so while it is', async () => {
    await create({
      eater: EATER,
      innocent: writer(4, { sizeLimit: '8Mi' }),
      greedy: writer(20, { sizeLimit: '8Mi' }),
      filler: writer(DISK_MIB - LEFT_MIB),
    })
    const [greedy, filler] = await Promise.all(
      ['greedy', 'filler'].map((name) =>
        isTrue(`${name} to be evicted`, async () => {
          const { status } = (await agent.pod(name)) ?? {}
          return status?.phase === 'Failed' && status
        }),
      ),
    )
    assert.equal(greedy?.reason, 'Evicted')
    assert.equal(greedy?.message, 'Usage of EmptyDir volume "data" exceeds the limit "8Mi". ')
    assert.equal(
      greedy?.conditions?.some(({ type }) => type === 'DisruptionTarget'),
      false,
    )
    assert.equal(filler?.reason, 'Evicted')
    assert.match(
      filler?.message ?? '',
      /^The node was low on resource: ephemeral-storage\. Threshold quantity: 80Mi, available: /,
    )
    const disruption = filler?.conditions?.find(({ type }) => type === 'DisruptionTarget')
    assert.deepEqual([disruption?.status, disruption?.reason], ['True', 'TerminationByKubelet'])

    // It was told when it began, so this is its end.
    await isTrue('disk pressure', async () => (await reasonsOf(NODE_NAME)).includes('NodeHasDiskPressure'))
    await isTrue('the end of disk pressure', async () => {
      const { status } = await get<Node>('node', NODE_NAME)
      return status?.conditions?.some((each) => each.type === 'DiskPressure' && each.status === 'False')
    })
    assert.equal((await statusOf('innocent'))?.phase, 'Running')
    assert.equal((await statusOf('greedy'))?.reason, 'Evicted')
    assert.equal((await statusOf('filler'))?.reason, 'Evicted')
    assert.ok((await reasonsOf(NODE_NAME)).includes('EvictionThresholdMet'))
    assert.ok((await reasonsOf('filler')).includes('Evicted'))
    assert.ok(!(await reasonsOf('innocent')).includes('Evicted'))
    await create({ late: writer(1) })
    await isTrue('a pod to be let in again', async () => (await statusOf('late'))?.phase === 'Running')
  })

  test('tells whose process the kernel killed for want of memory', async () => {
    const status = await isTrue('the eater to end', async () => {
      const { phase, containerStatuses } = (await statusOf('eater')) ?? {}
      return phase === 'Failed' && containerStatuses?.[0]
    })
    assert.equal(status.state?.terminated?.reason, 'OOMKilled')
    const told = await isTrue('an event about it', async () => {
      const { items } = await get<{ items: Event[] }>('events')
      return items.find(({ involvedObject, reason }) => involvedObject.name === 'eater' && reason === 'OOMKilling')
    })
    assert.match(told.message ?? '', /^Container main ran out of memory, victim process: tail, pid: \d+$/)
    assert.equal(told.involvedObject.fieldPath, 'spec.containers{main}')
  })
})
