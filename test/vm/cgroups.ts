import assert from 'node:assert/strict'
import type { ResourceRequirements } from '../../src/model/generated/core-v1.ts'
import { scripts, testContainer, testPod } from '../e2e/support/test-pod.ts'
import { expectedCgroups } from './expected-cgroups.ts'
import type { CgroupValues } from './expected-cgroups.ts'
import type { NodeAgent } from './support/node-agent.ts'
import { PATIENCE_SECONDS } from './support/machine-facts.ts'
import type { VmSuite } from './support/vm-suite.ts'

const RESERVED_MEBIBYTES = 256
const RESERVED_PIDS = 1000

const settings = {
  systemReserved: { cpu: '200m', memory: `${RESERVED_MEBIBYTES}Mi`, pid: String(RESERVED_PIDS) },
  podPidsLimit: 500,
}

const some: ResourceRequirements = { requests: { cpu: '100m', memory: '32Mi' } }
const limited: ResourceRequirements = { ...some, limits: { cpu: '200m', memory: '64Mi' } }
const equal: ResourceRequirements = {
  requests: { cpu: '500m', memory: '64Mi' },
  limits: { cpu: '500m', memory: '64Mi' },
}

const one = (name: string, resources: ResourceRequirements) =>
  testPod(name, { containers: [testContainer('main', scripts.obedient, { resources })] })

const pods = [
  one('guaranteed', equal),
  one('limited', limited),
  one('requests', some),
  testPod('besteffort'),
  testPod('mixed', {
    containers: [
      testContainer('main', scripts.obedient, { resources: limited }),
      testContainer('side', scripts.obedient),
    ],
  }),
  testPod('whole', {
    resources: { requests: { cpu: '250m', memory: '48Mi' }, limits: { cpu: '1', memory: '96Mi' } },
    containers: [testContainer('main', scripts.obedient), testContainer('side', scripts.obedient, { resources: some })],
  }),
  one('pages', {
    requests: { cpu: '100m', memory: '32Mi', 'hugepages-2Mi': '8Mi' },
    limits: { cpu: '100m', memory: '32Mi', 'hugepages-2Mi': '8Mi' },
  }),
]

const FILES = [
  'cpu.weight',
  'cpu.max',
  'cpuset.cpus',
  'memory.max',
  'memory.min',
  'memory.low',
  'memory.high',
  'memory.swap.max',
  'memory.oom.group',
  'pids.max',
  'hugetlb.2MB.max',
]

/** What is set on the machine, by name: the tree of the node, each pod, each container with the oom score of its first process. */
async function readCgroupTree(agent: NodeAgent): Promise<Readonly<Record<string, CgroupValues>>> {
  const tree: Record<string, CgroupValues> = {}
  const slices = [
    'kubepods.slice',
    'kubepods.slice/kubepods-burstable.slice',
    'kubepods.slice/kubepods-besteffort.slice',
  ]
  for (const slice of slices) tree[slice] = await agent.readCgroup(`/sys/fs/cgroup/${slice}`, FILES)
  for (const { metadata, spec } of pods) {
    tree[metadata.name] = await agent.readCgroup(await agent.podCgroup(metadata.name), FILES)
    for (const { name } of spec.containers ?? []) {
      const folder = await agent.containerCgroup(metadata.name, name)
      const score = await agent.guest.run(`cat /proc/$(head -1 ${folder}/cgroup.procs)/oom_score_adj`)
      tree[`${metadata.name}/${name}`] = { ...(await agent.readCgroup(folder, FILES)), oom_score_adj: score }
    }
  }
  return tree
}

/** Values of cgroup v2 for pods of each class, against those of the Go kubelet. */
export const cgroupsSuite: VmSuite = {
  name: 'cgroups',
  checks: [
    {
      name: 'pods of each class run',
      run: async ({ agent }) => {
        await agent.start(settings)
        await agent.apply(...pods)
        await agent.waitUntilReady(...pods.map(({ metadata }) => metadata.name))
      },
    },
    {
      name: 'every value of the node, the classes, the pods and the containers is the Go kubelet’s',
      run: async ({ agent }) => {
        // Not multiplied there: the awk of Debian 12 rounds large numbers.
        const [kibibytes = 0, most = 0, threads = 0, tasks = 0] = (
          await agent.guest.run(
            `awk '/MemTotal/ { print $2 }' /proc/meminfo; cat /proc/sys/kernel/pid_max /proc/sys/kernel/threads-max; systemctl show -P DefaultTasksMax`,
          )
        )
          .split('\n')
          .map(Number)
        const allocatable = {
          'memory.max': String(kibibytes * 1024 - RESERVED_MEBIBYTES * 1024 ** 2),
          'pids.max': String(Math.min(most, threads) - RESERVED_PIDS),
        }
        const expected = Object.entries(expectedCgroups).map(([name, values]) => [
          name,
          name === 'kubepods.slice'
            ? { ...values, ...allocatable }
            : values['pids.max'] === 'DefaultTasksMax'
              ? { ...values, 'pids.max': String(tasks) }
              : values,
        ])
        assert.deepEqual(await readCgroupTree(agent), Object.fromEntries(expected))
      },
    },
    {
      name: 'daemon-reload and daemon-reexec of systemd change nothing of it but what runc does not pass to systemd',
      run: async ({ agent, machine: { guest } }) => {
        const before = await readCgroupTree(agent)
        await guest.run('systemctl daemon-reload')
        await guest.run('systemctl daemon-reexec')
        await guest.until('systemctl is-active kubelet && curl -sf localhost:10248/healthz', PATIENCE_SECONDS)
        const after = await readCgroupTree(agent)
        assert.deepEqual(without(after, 'memory.oom.group'), without(before, 'memory.oom.group'))
      },
    },
  ],
}

function without(tree: Readonly<Record<string, CgroupValues>>, file: string) {
  return Object.fromEntries(Object.entries(tree).map(([name, values]) => [name, { ...values, [file]: '' }]))
}
