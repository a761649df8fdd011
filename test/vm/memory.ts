import assert from 'node:assert/strict'
import type { ResourceRequirements } from '../../src/model/generated/core-v1.ts'
import { scripts, testContainer, testPod } from '../e2e/support/test-pod.ts'
import { PATIENCE_SECONDS } from './support/machine-facts.ts'
import type { NodeAgent } from './support/node-agent.ts'
import type { VmSuite } from './support/vm-suite.ts'

const MEBIBYTE = 1024 ** 2

const memory = (request: number, limit?: number): ResourceRequirements => ({
  requests: { memory: `${request}Mi` },
  ...(limit === undefined ? {} : { limits: { memory: `${limit}Mi` } }),
})

const guaranteed: ResourceRequirements = {
  requests: { cpu: '100m', memory: '64Mi' },
  limits: { cpu: '100m', memory: '64Mi' },
}

const one = (name: string, script: string, resources: ResourceRequirements) =>
  testPod(name, { containers: [testContainer('main', script, { resources })] })

// One process takes memory until the kernel ends it; the first process of the container waits for it.
const GREEDY = 'echo begun; tail /dev/zero & wait $!; echo "child ended with $?"; exec sleep 1000'

/** Memory on cgroup v2: swap behaviours, memory QoS, the kernel's kills. */
export const memorySuite: VmSuite = {
  name: 'memory',
  checks: [
    {
      name: 'NoSwap: no container may swap',
      run: async ({ agent }) => {
        await agent.start()
        await agent.apply(one('plain', scripts.obedient, memory(32, 64)), testPod('best'))
        await agent.waitUntilReady('plain', 'best')
        assert.deepEqual([await swapOf(agent, 'plain'), await swapOf(agent, 'best')], ['0', '0'])
      },
    },
    {
      name: 'by default the kernel’s kill ends the whole container, which is restarted and says OOMKilled',
      run: async ({ agent }) => {
        await agent.apply(one('greedy', GREEDY, memory(16, 32)))
        const pod = await agent.waitForPod(
          'greedy',
          ({ status }) => (status?.containerStatuses?.[0]?.restartCount ?? 0) > 0,
          'restarted',
        )
        const last = pod.status?.containerStatuses?.[0]?.lastState?.terminated
        assert.deepEqual([last?.reason, last?.exitCode], ['OOMKilled', 137])
        assert.doesNotMatch(await agent.log('greedy'), /child ended/)
      },
    },
    {
      name: 'singleProcessOOMKill: the process alone is killed, its container goes on',
      run: async ({ agent }) => {
        await agent.start({ singleProcessOOMKill: true })
        await agent.apply(one('greedy', GREEDY, memory(16, 32)))
        await agent.waitUntilReady('greedy')
        await agent.guest.until('grep -q "child ended with 137" /var/log/pods/*_greedy-*/*/*.log', PATIENCE_SECONDS)
        const pod = await agent.findPod('greedy')
        assert.equal(pod?.status?.containerStatuses?.[0]?.restartCount, 0)
        const { 'memory.oom.group': group } = await agent.readCgroup(await agent.containerCgroup('greedy'), [
          'memory.oom.group',
        ])
        assert.equal(group, '0')
      },
    },
    {
      name: 'LimitedSwap: pods of files are critical, as in the Go kubelet, and get no swap of any class',
      run: async ({ agent }) => {
        await agent.start({ memorySwap: { swapBehavior: 'LimitedSwap' } })
        const pods = [
          one('share', scripts.obedient, memory(256, 512)),
          one('guaranteed', scripts.obedient, guaranteed),
          testPod('best'),
        ]
        const names = pods.map(({ metadata }) => metadata.name)
        await agent.apply(...pods)
        await agent.waitUntilReady(...names)
        for (const name of names) assert.equal(await swapOf(agent, name), '0', name)
      },
    },
    {
      name: 'MemoryQoS: memory.high between request and limit; with tiers memory.min for Guaranteed, memory.low for Burstable',
      run: async ({ agent }) => {
        await agent.start({ featureGates: { MemoryQoS: true }, memoryReservationPolicy: 'TieredReservation' })
        await agent.apply(
          one('limited', scripts.obedient, memory(64, 128)),
          one('guaranteed', scripts.obedient, guaranteed),
          testPod('best'),
        )
        await agent.waitUntilReady('limited', 'guaranteed', 'best')
        const files = ['memory.min', 'memory.low', 'memory.high']
        const high = Math.floor((64 + 0.9 * 64) * 256) * 4096
        assert.deepEqual(await agent.readCgroup(await agent.containerCgroup('limited'), files), {
          'memory.min': '0',
          'memory.low': String(64 * MEBIBYTE),
          'memory.high': String(high),
        })
        assert.deepEqual(await agent.readCgroup(await agent.containerCgroup('guaranteed'), files), {
          'memory.min': String(64 * MEBIBYTE),
          'memory.low': '0',
          'memory.high': 'max',
        })
        const pod = await agent.readCgroup(await agent.podCgroup('guaranteed'), files)
        assert.equal(pod['memory.min'], String(64 * MEBIBYTE))
      },
    },
  ],
}

async function swapOf(agent: NodeAgent, name: string): Promise<string | undefined> {
  return (await agent.readCgroup(await agent.containerCgroup(name), ['memory.swap.max']))['memory.swap.max']
}
