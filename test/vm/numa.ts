import assert from 'node:assert/strict'
import type { ResourceRequirements } from '../../src/model/generated/core-v1.ts'
import { scripts, testContainer, testPod } from '../e2e/support/test-pod.ts'
import { PATIENCE_SECONDS } from './support/machine-facts.ts'
import type { NodeAgent } from './support/node-agent.ts'
import type { VmSuite } from './support/vm-suite.ts'

const same = (resources: Readonly<Record<string, string>>): ResourceRequirements => ({
  requests: resources,
  limits: resources,
})

const one = (name: string, resources: Readonly<Record<string, string>>) =>
  testPod(name, { containers: [testContainer('main', scripts.obedient, { resources: same(resources) })] })

// Of 1536 MiB on each of two nodes, less what the kernel has for itself and 64 MiB of huge pages. CPUs 0 and 1 are on the first, 2 and 3 on the second.
const settings = {
  cpuManagerPolicy: 'static',
  memoryManagerPolicy: 'Static',
  topologyManagerPolicy: 'single-numa-node',
  reservedSystemCPUs: '0',
  systemReserved: { memory: '256Mi' },
  // What is reserved and the least that has to stay free: 256 and 50.
  reservedMemory: [{ numaNode: 0, limits: { memory: '306Mi' } }],
}

// More than either node has, less than both.
const WIDE = '1600Mi'

/** Where the container's processes may run and where their memory is, as the kernel has it. */
async function placeOf(agent: NodeAgent, name: string): Promise<readonly string[]> {
  const folder = await agent.containerCgroup(name)
  const status = await agent.guest.run(`cat /proc/$(head -1 ${folder}/cgroup.procs)/status`)
  return ['Cpus_allowed_list', 'Mems_allowed_list'].map(
    (field) => new RegExp(String.raw`^${field}:\s+(\S+)$`, 'm').exec(status)?.[1] ?? '',
  )
}

/** CPU, memory and topology manager on a machine with two NUMA nodes. */
export const numaSuite: VmSuite = {
  name: 'numa',
  checks: [
    {
      name: 'single-numa-node: a Guaranteed container gets CPUs and memory of one node, others what is left',
      run: async ({ agent }) => {
        await agent.start(settings)
        await agent.apply(one('double', { cpu: '2', memory: '256Mi' }))
        await agent.waitUntilReady('double')
        assert.deepEqual(await placeOf(agent, 'double'), ['2-3', '1'])
        await agent.apply(one('single', { cpu: '1', memory: '128Mi' }), testPod('best'))
        await agent.waitUntilReady('single', 'best')
        assert.deepEqual(await placeOf(agent, 'single'), ['1', '0'])
        await agent.guest.until(
          `grep -qx 0 ${await agent.containerCgroup('best')}/cpuset.cpus.effective`,
          PATIENCE_SECONDS,
        )
        assert.deepEqual(await placeOf(agent, 'best'), ['0', '0-1'])
      },
    },
    {
      name: 'after a restart of the agent every container is where it was',
      run: async ({ agent, machine: { guest } }) => {
        const before = await agent.waitUntilReady('double', 'single')
        await guest.run('systemctl restart kubelet')
        const after = await agent.waitUntilReady('double', 'single')
        assert.deepEqual(
          after.map(({ status }) => status?.containerStatuses?.[0]?.containerID),
          before.map(({ status }) => status?.containerStatuses?.[0]?.containerID),
        )
        assert.deepEqual(await placeOf(agent, 'double'), ['2-3', '1'])
        assert.deepEqual(await placeOf(agent, 'single'), ['1', '0'])
        assert.deepEqual(await placeOf(agent, 'best'), ['0', '0-1'])
      },
    },
    {
      name: 'CPUs of a pod that is gone go back to the others',
      run: async ({ agent }) => {
        await agent.remove('double')
        await agent.guest.until(
          `grep -qx 0,2-3 ${await agent.containerCgroup('best')}/cpuset.cpus.effective`,
          PATIENCE_SECONDS,
        )
        assert.deepEqual(await placeOf(agent, 'best'), ['0,2-3', '0-1'])
      },
    },
    {
      name: 'huge pages of a container are of the node that its CPUs are on',
      run: async ({ agent }) => {
        await agent.apply(one('pages', { cpu: '2', memory: '64Mi', 'hugepages-2Mi': '48Mi' }))
        await agent.waitUntilReady('pages')
        assert.deepEqual(await placeOf(agent, 'pages'), ['2-3', '1'])
        await agent.remove('pages')
      },
    },
    {
      name: 'a pod that fits on no single node is rejected with TopologyAffinityError',
      run: async ({ agent }) => {
        await agent.apply(one('wide', { cpu: '1', memory: WIDE }))
        const pod = await agent.waitForPod('wide', ({ status }) => status?.phase === 'Failed', 'rejected')
        assert.equal(pod.status?.reason, 'TopologyAffinityError')
      },
    },
    {
      name: 'restricted: both nodes for who needs CPUs and memory of both; CPUs of one and memory of both are rejected',
      run: async ({ agent }) => {
        await agent.start({ ...settings, topologyManagerPolicy: 'restricted' })
        await agent.apply(one('uneven', { cpu: '1', memory: WIDE }))
        const pod = await agent.waitForPod('uneven', ({ status }) => status?.phase === 'Failed', 'rejected')
        assert.equal(pod.status?.reason, 'TopologyAffinityError')
        await agent.remove('uneven')
        await agent.apply(one('wide', { cpu: '3', memory: WIDE }))
        await agent.waitUntilReady('wide')
        assert.deepEqual(await placeOf(agent, 'wide'), ['1-3', '0-1'])
      },
    },
  ],
}
