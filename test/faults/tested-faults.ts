import type { TestedFault } from './fault-row.ts'

/** Faults that tests of the usual suite make. They are run here too, so that one command makes them all. */
export const testedFaults: readonly TestedFault[] = [
  {
    name: 'killed-at-each-step',
    fault: 'the agent is killed at each call of a pod’s life',
    injection:
      'a module in the agent kills it before, during and after each call to the runtime and each step of a volume',
    invariants: ['once', 'kept', 'status', 'clean'],
    files: [
      'test/e2e/kubelet/killed-at-each-step.test.ts',
      'test/e2e/kubelet/volumes-killed-at-each-step.test.ts',
      'test/e2e/kubelet/killed-agent.test.ts',
    ],
  },
  {
    name: 'killed-containerd',
    fault: 'containerd is killed and comes back',
    injection: 'SIGKILL; containers go on under their shims',
    invariants: ['once', 'kept', 'steady', 'lives', 'status'],
    files: ['test/e2e/kubelet/killed-containerd.test.ts'],
  },
  {
    name: 'lost-tasks',
    fault: 'containerd has lost the task of a container, or a shim',
    injection: 'a task and a shim are started behind the back of CRI',
    invariants: ['kept', 'steady', 'clean'],
    files: ['test/e2e/kubelet/lost-tasks.test.ts'],
  },
  {
    name: 'hung-file-systems',
    fault: 'a volume or its server does not answer any more',
    injection: 'a FUSE file system, an NFS mount and a pipe that hang',
    invariants: ['kept', 'steady', 'lives', 'status'],
    files: ['test/e2e/kubelet/stuck-volumes.test.ts', 'test/kernel/dead-file-system.test.ts'],
  },
  {
    name: 'out-of-descriptors',
    fault: 'the agent may open no more files',
    injection: '256 descriptors are allowed and 600 idle clients come',
    invariants: ['steady', 'lives', 'status'],
    files: ['test/e2e/kubelet/out-of-descriptors.test.ts'],
  },
  {
    name: 'full-disk',
    fault: 'the disk is full or read-only, or the runtime fails at any of its calls',
    injection: 'a file system on which writing fails, and a runtime that fails, hangs or goes away at each call',
    invariants: ['once', 'kept', 'lives', 'status'],
    files: ['test/component/failures.test.ts', 'src/pods/sync/report/exit-journal.test.ts'],
  },
  {
    name: 'power-cut',
    fault: 'the machine loses power',
    injection: 'writes are cut between each two steps of the one durable writer; broken state files of every kind',
    invariants: ['kept', 'lives'],
    files: [
      'src/system/files/state/durable-file.test.ts',
      'test/component/broken-state.test.ts',
      'test/component/api-server/killed-store.test.ts',
    ],
  },
  {
    name: 'api-faults',
    fault: 'the API is away, killed, cut off, or answers every other request badly',
    injection:
      'SIGKILL, dropped packets, and a proxy that spoils answers over HTTP/1.1; HTTP/2 sessions broken frame by frame',
    invariants: ['once', 'kept', 'steady', 'status'],
    files: ['test/e2e/cluster/resilience.test.ts', 'test/component/kube-api/faults.test.ts'],
  },
  {
    name: 'ending-certificates',
    fault: 'certificates and tokens end while they are used',
    injection: 'certificates of some seconds, a clock that is set, files that are half written',
    invariants: ['steady', 'lives', 'status'],
    files: [
      'test/component/membership/expiring-credentials.test.ts',
      'src/node/certificates/certificate-store.test.ts',
      'src/node/certificates/open-serving-certificates.test.ts',
      'test/e2e/cluster/credentials.test.ts',
    ],
  },
  {
    name: 'clock-steps',
    fault: 'the clock of the machine is set',
    injection: 'steps of the time of day, forward and back',
    invariants: ['steady', 'lives', 'status'],
    files: ['test/component/clock-steps.test.ts'],
  },
]
