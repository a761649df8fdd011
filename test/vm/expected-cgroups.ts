/** Content of files of a cgroup; undefined: there is no such file. */
export type CgroupValues = Readonly<Record<string, string | undefined>>

// What the kernel has where nothing is set.
const untouched = {
  'cpu.weight': '1',
  'cpu.max': 'max 100000',
  'cpuset.cpus': '',
  'memory.max': 'max',
  'memory.min': '0',
  'memory.low': '0',
  'memory.high': 'max',
  'memory.swap.max': 'max',
  'memory.oom.group': '0',
  'pids.max': 'max',
  'hugetlb.2MB.max': '0',
}

const pod = { ...untouched, 'pids.max': '500' }

// No swap, and the kernel ends a container as a whole. containerd sets no huge pages unless it is configured to, and systemd limits the processes of what
// has no limit.
const container = {
  ...untouched,
  'memory.swap.max': '0',
  'memory.oom.group': '1',
  'hugetlb.2MB.max': 'max',
  'pids.max': 'DefaultTasksMax',
}

/** What is set as 1 << 62 bytes: no limit for pages of 2 MiB. */
const UNLIMITED = '4611686018427387904'

/**
 * The values of the Go kubelet (Kubernetes 1.36) and runc for the pods of `cgroups.ts` on a machine with four CPUs and some 2.9 GiB: weights of CPU
 * requests, quotas and limits of memory by class, oom scores by share of the machine's memory. What follows from the exact size of the
 * machine is "allocatable" or "DefaultTasksMax".
 */
export const expectedCgroups: Readonly<Record<string, CgroupValues>> = {
  // 3800 milli-CPUs: 3891 shares.
  'kubepods.slice': {
    ...untouched,
    'cpu.weight': '149',
    'cpuset.cpus': '0-3',
    'memory.max': 'allocatable',
    'pids.max': 'allocatable',
    'hugetlb.2MB.max': String(128 * 1024 ** 2),
  },
  // 550 milli-CPUs of all Burstable pods: 563 shares.
  'kubepods.slice/kubepods-burstable.slice': { ...untouched, 'cpu.weight': '22', 'hugetlb.2MB.max': UNLIMITED },
  'kubepods.slice/kubepods-besteffort.slice': { ...untouched, 'hugetlb.2MB.max': UNLIMITED },

  guaranteed: { ...pod, 'cpu.weight': '20', 'cpu.max': '50000 100000', 'memory.max': '67108864' },
  'guaranteed/main': {
    ...container,
    'cpu.weight': '20',
    'cpu.max': '50000 100000',
    'memory.max': '67108864',
    oom_score_adj: '-997',
  },

  limited: { ...pod, 'cpu.weight': '4', 'cpu.max': '20000 100000', 'memory.max': '67108864' },
  'limited/main': {
    ...container,
    'cpu.weight': '4',
    'cpu.max': '20000 100000',
    'memory.max': '67108864',
    oom_score_adj: '990',
  },

  requests: { ...pod, 'cpu.weight': '4' },
  'requests/main': { ...container, 'cpu.weight': '4', oom_score_adj: '990' },

  besteffort: pod,
  'besteffort/main': { ...container, oom_score_adj: '1000' },

  // One container without limits: no limit for the pod.
  mixed: { ...pod, 'cpu.weight': '4' },
  'mixed/main': {
    ...container,
    'cpu.weight': '4',
    'cpu.max': '20000 100000',
    'memory.max': '67108864',
    oom_score_adj: '990',
  },
  'mixed/side': { ...container, oom_score_adj: '999' },

  // Resources of the pod: its limits are those of containers without, and these share the request of memory that none has claimed.
  whole: { ...pod, 'cpu.weight': '10', 'cpu.max': '100000 100000', 'memory.max': '100663296' },
  'whole/main': {
    ...container,
    'cpu.weight': '39',
    'cpu.max': '100000 100000',
    'memory.max': '100663296',
    oom_score_adj: '998',
  },
  'whole/side': {
    ...container,
    'cpu.weight': '4',
    'cpu.max': '100000 100000',
    'memory.max': '100663296',
    oom_score_adj: '987',
  },

  pages: {
    ...pod,
    'cpu.weight': '4',
    'cpu.max': '10000 100000',
    'memory.max': '33554432',
    'hugetlb.2MB.max': '8388608',
  },
  'pages/main': {
    ...container,
    'cpu.weight': '4',
    'cpu.max': '10000 100000',
    'memory.max': '33554432',
    oom_score_adj: '-997',
  },
}
