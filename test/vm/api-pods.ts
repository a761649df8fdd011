import assert from 'node:assert/strict'
import type { ResourceRequirements } from '../../src/model/generated/core-v1.ts'
import type { Pod } from '../../src/model/pod/pod.ts'
import { scripts, testContainer, testPod } from '../e2e/support/test-pod.ts'
import { ApiNode, hasCondition } from './support/api-node.ts'
import { NodeAgent } from './support/node-agent.ts'
import type { VmSuite, VmWorld } from './support/vm-suite.ts'

const MEBIBYTE = 1024 ** 2
// In one second: what programs that wait for pressure usually ask the kernel for.
const STALL_OF_A_TRIGGER_MS = 150

const one = (name: string, script: string, resources: ResourceRequirements = {}) =>
  testPod(name, {
    restartPolicy: 'Never',
    automountServiceAccountToken: false,
    containers: [testContainer('main', script, { resources })],
  })

const sized = (milli: number, mebi: number): ResourceRequirements => ({
  requests: { cpu: `${milli}m`, memory: `${mebi}Mi` },
  limits: { cpu: `${2 * milli}m`, memory: `${2 * mebi}Mi` },
})

/** Ends the agent of files first: one machine has one. */
async function startNode({ agent, machine: { guest } }: VmWorld, settings: Readonly<Record<string, unknown>> = {}) {
  if ((await guest.attempt('systemctl is-active kubelet')).exitCode === 0) await agent.stop()
  return await ApiNode.start(guest, settings)
}

/** What the kernel has for a pod's only container and for the pod itself. */
async function inForce(node: ApiNode, pod: Pod): Promise<readonly (string | undefined)[]> {
  const container = await node.containerCgroup(pod)
  const files = ['cpu.weight', 'cpu.max', 'memory.max']
  const agent = new NodeAgent(node.guest)
  const values = [await agent.readCgroup(container, files), await agent.readCgroup(`${container}/..`, files)]
  return values.flatMap((each) => files.map((file) => each[file]))
}

/**
 * Takes memory and keeps it: a file in memory, since no swap may hide it. It fills its volume, which is as large as what the node gives to
 * pods: whatever the kernel counts as free, what is then left is less than the threshold.
 */
function greedy() {
  const pod = one('greedy', 'dd if=/dev/zero of=/memory/file bs=1M; sleep 1000')
  const volumeMounts = [{ name: 'memory', mountPath: '/memory' }]
  return {
    ...pod,
    spec: {
      ...pod.spec,
      containers: pod.spec.containers.map((container) => ({ ...container, volumeMounts })),
      volumes: [{ name: 'memory', emptyDir: { medium: 'Memory' } }],
    },
  }
}

const wasEvicted = ({ status }: Pod) => status?.phase === 'Failed'

/** What only pods of an API get: resizes, swap, evictions. */
export const apiPodsSuite: VmSuite = {
  name: 'api-pods',
  checks: [
    {
      name: 'resizes up and down: the values of cgroup v2 follow, containers stay',
      run: async (world) => {
        await using node = await startNode(world)
        await node.create(one('web', scripts.obedient, sized(100, 32)))
        const [first] = await node.waitUntilReady('web')
        assert.ok(first)
        const resizeTo = async (milli: number, mebi: number) => {
          const patch = { spec: { containers: [{ name: 'main', resources: sized(milli, mebi) }] } }
          await node.send('PATCH', '/api/v1/namespaces/default/pods/web/resize', patch)
          const limit = `${2 * mebi}Mi`
          const pod = await node.waitForPod(
            'web',
            ({ status }) =>
              status?.containerStatuses?.[0]?.resources?.limits?.['memory'] === limit &&
              !(status.conditions ?? []).some(({ type }) => type.startsWith('PodResize')),
            `resized to ${limit}`,
          )
          assert.equal(
            pod.status?.containerStatuses?.[0]?.containerID,
            first.status?.containerStatuses?.[0]?.containerID,
          )
          return await inForce(node, pod)
        }
        const values = (weight: number, quota: number, mebi: number) => [
          String(weight),
          `${quota} 100000`,
          String(mebi * MEBIBYTE),
        ]
        const small = values(4, 20_000, 64)
        assert.deepEqual(await inForce(node, first), [...small, ...small])
        const large = values(20, 100_000, 256)
        assert.deepEqual(await resizeTo(500, 128), [...large, ...large])
        assert.deepEqual(await resizeTo(100, 32), [...small, ...small])
      },
    },
    {
      name: 'LimitedSwap: Burstable pods swap in proportion to what they ask for, others not at all',
      run: async (world) => {
        await using node = await startNode(world, { memorySwap: { swapBehavior: 'LimitedSwap' } })
        const equal = { cpu: '100m', memory: '64Mi' }
        await node.create(
          one('share', scripts.obedient, { requests: { memory: '256Mi' }, limits: { memory: '512Mi' } }),
          one('equal', scripts.obedient, { requests: equal, limits: equal }),
          one('best', scripts.obedient),
        )
        const pods = await node.waitUntilReady('share', 'equal', 'best')
        const swaps = await Promise.all(
          pods.map(async (pod) =>
            Number(await node.guest.run(`cat ${await node.containerCgroup(pod)}/memory.swap.max`)),
          ),
        )
        const read = async (field: string) =>
          Number(await node.guest.run(`awk '/^${field}:/ { print $2 }' /proc/meminfo`)) * 1024
        const [memory, swap] = [await read('MemTotal'), await read('SwapTotal')]
        const share = Math.floor((256 * MEBIBYTE * swap) / memory / 4096) * 4096
        assert.ok(Math.abs((swaps[0] ?? 0) - share) <= 4096, `${swaps[0]} instead of ${share}`)
        assert.deepEqual(swaps.slice(1), [0, 0])
      },
    },
    {
      name: 'memory.available: the pod that uses more than it asked for is evicted, the node says so until it is over',
      run: async (world) => {
        const free = Number(await world.machine.guest.run(`awk '/MemAvailable/ { print $2 }' /proc/meminfo`)) / 1024
        await using node = await startNode(world, {
          evictionHard: { 'memory.available': `${Math.floor(free / 2)}Mi` },
          evictionPressureTransitionPeriod: '30s',
        })
        await node.create(one('modest', scripts.obedient, { requests: { memory: '64Mi' } }))
        await node.waitUntilReady('modest')
        await node.create(greedy())
        // On an emulated machine the pod's end may take longer than the node says so.
        const [evicted] = await Promise.all([
          node.waitForPod('greedy', wasEvicted, 'evicted'),
          node.waitForNode((each) => hasCondition(each, 'MemoryPressure', 'True'), 'under memory pressure'),
        ])
        assert.equal(evicted.status?.reason, 'Evicted')
        assert.match(evicted.status?.message ?? '', /The node was low on resource: memory/)
        await node.waitForNode((each) => hasCondition(each, 'MemoryPressure', 'False'), 'well again')
        await node.waitUntilReady('modest')
      },
    },
    {
      name: 'kernelMemcgNotification: the pod is evicted while no program has to wait for memory yet (PSI)',
      run: async (world) => {
        const { guest } = world.machine
        const readStalledMs = async () =>
          Number(await guest.run(`awk '/^some/ { sub("total=", "", $5); print $5 }' /proc/pressure/memory`)) / 1000
        const free = Number(await guest.run(`awk '/MemAvailable/ { print $2 }' /proc/meminfo`)) / 1024
        await using node = await startNode(world, {
          kernelMemcgNotification: true,
          evictionHard: { 'memory.available': `${Math.floor(free / 2)}Mi` },
        })
        await node.create(one('modest', scripts.obedient, { requests: { memory: '64Mi' } }))
        await node.waitUntilReady('modest')
        const before = await readStalledMs()
        await node.create(greedy())
        const evicted = await node.waitForPod('greedy', wasEvicted, 'evicted')
        assert.match(evicted.status?.message ?? '', /The node was low on resource: memory/)
        const stalledMs = (await readStalledMs()) - before
        assert.ok(stalledMs < STALL_OF_A_TRIGGER_MS, `programs waited ${stalledMs} ms for memory`)
        await node.waitUntilReady('modest')
      },
    },
    {
      name: 'pid.available: the pod with most processes is evicted, the node says so until it is over',
      run: async (world) => {
        const { guest } = world.machine
        const most = Number(
          await guest.run('cat /proc/sys/kernel/threads-max /proc/sys/kernel/pid_max | sort -n | head -1'),
        )
        const now = Number(await guest.run(`cut -d/ -f2 /proc/loadavg | cut -d' ' -f1`))
        await using node = await startNode(world, {
          // 400 more than there are now, and than a node takes.
          evictionHard: { 'pid.available': String(most - now - 400), 'memory.available': '50Mi' },
          evictionPressureTransitionPeriod: '30s',
        })
        await node.create(one('few', scripts.obedient))
        await node.waitUntilReady('few')
        await node.create(one('many', 'for i in $(seq 500); do sleep 1000 & done; wait'))
        const [evicted] = await Promise.all([
          node.waitForPod('many', wasEvicted, 'evicted'),
          node.waitForNode((each) => hasCondition(each, 'PIDPressure', 'True'), 'short of process numbers'),
        ])
        assert.equal(evicted.status?.reason, 'Evicted')
        assert.match(evicted.status?.message ?? '', /The node was low on resource: pids/)
        await node.waitForNode((each) => hasCondition(each, 'PIDPressure', 'False'), 'well again')
        await node.waitUntilReady('few')
      },
    },
    {
      name: 'PSI: pressure of the node and of a container is in the summary',
      run: async (world) => {
        await using node = await startNode(world)
        await node.create(one('busy', 'while :; do :; done', { limits: { cpu: '100m', memory: '32Mi' } }))
        await node.waitUntilReady('busy')
        const { metadata } = await node.waitForNode(() => true, 'known')
        const isPressed = (summary: Summary) =>
          (summary.node.cpu?.psi?.some?.total ?? 0) > 0 &&
          summary.pods.some(
            ({ podRef, containers }) => podRef.name === 'busy' && (containers[0]?.cpu?.psi?.some?.total ?? 0) > 0,
          )
        await node.waitFor<Summary>(
          `/api/v1/nodes/${metadata?.name}/proxy/stats/summary`,
          isPressed,
          'PSI is in the summary',
        )
      },
    },
  ],
}

interface Pressed {
  readonly cpu?: { readonly psi?: { readonly some?: { readonly total: number } } }
}

interface Summary {
  readonly node: Pressed
  readonly pods: readonly { readonly podRef: { readonly name: string }; readonly containers: readonly Pressed[] }[]
}
