/** Every test there is, the ones on real containerd included, and a short form of those on Docker. */
import process from 'node:process'
import { runGate } from './run-check.ts'
import { runTests, unitTests } from './run-node-tests.ts'
import type { TestGroup } from './run-node-tests.ts'
import { withImages } from './with-images.ts'
import { withBuiltAgents } from './with-built-agents.ts'

const groups: readonly TestGroup[] = [
  ...unitTests,
  {
    name: 'browser',
    globs: ['test/browser/**/*.test.ts'],
    isBusy: true,
    // Those of a process share a browser and the built page.
    filesPerProcess: 4,
    timeoutMs: 240_000,
    confirm: true,
  },
  {
    name: 'component',
    globs: [
      'test/component/**/*.test.ts',
      'test/bench/**/*.test.ts',
      'test/churn/**/*.test.ts',
      'test/faults/faults-page.test.ts',
    ],
    isBusy: true,
    // Half of the CPU time of a process for each: they load the same code and run it again and again.
    filesPerProcess: 15,
    longest: [
      'test/component/leaks.test.ts',
      'test/component/etcd/etcd-source.test.ts',
      'test/component/api-server/reflector.test.ts',
      'test/component/stuck-pods.test.ts',
      'test/component/failures.test.ts',
      'test/component/agent-restart.test.ts',
      'test/component/api-server/load.test.ts',
      'test/component/api-server/killed-store.test.ts',
      'test/component/api-server/hostile-requests.test.ts',
      // It counts files that are open.
      'test/component/server/hostile-traffic.test.ts',
    ],
    // Some of them wait for a clock.
    mostProcesses: 5,
    timeoutMs: 240_000,
    confirm: true,
  },
  {
    name: 'e2e',
    globs: ['test/e2e/**/*.test.ts', 'test/faults/quick-faults.test.ts'],
    // They wait two thirds of the time, each in namespaces of its own.
    processes: 4,
    mostProcesses: 10,
    // Those that are busy all the time beside those that wait.
    longest: [
      'test/e2e/kubelet/volumes-killed-at-each-step.test.ts',
      'test/faults/quick-faults.test.ts',
      'test/e2e/cluster/read-only-root.test.ts',
      'test/e2e/kubelet/killed-at-each-step.test.ts',
      'test/e2e/runtimes/newer-containerd.test.ts',
      'test/e2e/package/artefacts.test.ts',
      'test/e2e/cluster/commands.test.ts',
      'test/e2e/cluster/resilience.test.ts',
      'test/e2e/standalone/workloads.test.ts',
      'test/e2e/kubelet/many-pods.test.ts',
      'test/e2e/kubelet/eviction.test.ts',
      'test/e2e/kubelet/volumes-data-safety.test.ts',
      'test/e2e/docker/docker-node.test.ts',
      'test/e2e/kubelet/volumes-leave-nothing.test.ts',
      'test/e2e/cluster/credentials.test.ts',
      'test/e2e/kubelet/volumes.test.ts',
      'test/e2e/kubelet/registry.test.ts',
      'test/e2e/standalone/kubectl-streams.test.ts',
      'test/e2e/standalone/page.test.ts',
      'test/e2e/kubelet/stuck-volumes.test.ts',
      'test/e2e/kubelet/volume-paths.test.ts',
      'test/e2e/kubelet/agent-process.test.ts',
      'test/e2e/kubelet/probes.test.ts',
      'test/e2e/kubelet/killed-agent.test.ts',
      'test/e2e/kubelet/out-of-descriptors.test.ts',
      'test/e2e/kubelet/protection.test.ts',
      'test/e2e/standalone/kubectl.test.ts',
      'test/e2e/kubelet/volume-contents.test.ts',
      'test/e2e/cluster/resize.test.ts',
      'test/e2e/cluster/pods.test.ts',
      'test/e2e/standalone/deckhand-up.test.ts',
      'test/e2e/kubelet/volumes-without-agent.test.ts',
      'test/e2e/kubelet/sub-path-race.test.ts',
      'test/e2e/standalone/services.test.ts',
      'test/e2e/kubelet/container-config.test.ts',
      'test/e2e/standalone/address.test.ts',
      'test/e2e/kubelet/node-shutdown.test.ts',
      'test/e2e/standalone/kubectl-apply.test.ts',
      'test/e2e/standalone/kubectl-definitions.test.ts',
      'test/e2e/kubelet/lost-tasks.test.ts',
      'test/e2e/kubelet/restart.test.ts',
      'test/e2e/kubelet/static-pod.test.ts',
      'test/e2e/kubelet/log-rotation.test.ts',
      'test/e2e/cluster/csi-volumes.test.ts',
      'test/e2e/standalone/kubectl-roles.test.ts',
      'test/e2e/kubelet/killed-containerd.test.ts',
      'test/e2e/standalone/without-nft.test.ts',
      'test/e2e/lab/lab.test.ts',
    ],
    timeoutMs: 300_000,
    confirm: true,
  },
  {
    name: 'kernel',
    globs: ['test/contract/{,api-server/}*.test.ts', 'test/kernel/**/*.test.ts'],
    // They wait for a runtime or the kernel.
    processes: 3,
    mostProcesses: 6,
    longest: ['test/contract/docker.test.ts', 'test/contract/containerd.test.ts'],
    onDisk: true,
    timeoutMs: 240_000,
    confirm: true,
  },
]

const gate = runGate()
// What tests need is made beside it.
const run = () => withImages(() => withBuiltAgents(async () => (await gate) && (await runTests(groups))))
process.exitCode = (await run()) ? 0 : 1
