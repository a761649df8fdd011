import { setImmediate } from 'node:timers/promises'
import { composeKubelet } from '../../../src/agent/kubelet.ts'
import { createLoneMembership } from '../../../src/agent/cluster/membership.ts'
import { TaskGroup } from '../../../src/base/async/task-group.ts'
import { createVerbosity } from '../../../src/base/telemetry/create-logger.ts'
import { silentLogger } from '../../../src/base/telemetry/silent-logger.ts'
import { deferMetrics } from '../../../src/metrics/defer-metrics.ts'
import { createSimulatedHost } from '../../../src/simulation/machine/create-simulated-host.ts'
import { createSimulatedClient } from '../../../src/simulation/runtime/create-simulated-client.ts'
import { SimulatedCri } from '../../../src/simulation/runtime/simulated-cri.ts'
import { createContainer, createPod } from '../../builders/create-pod.ts'
import { FakeClock } from '../../fakes/fake-clock.ts'
import { loadSettings } from '../../fakes/load-settings.ts'

const MACHINE = {
  cgroupVersion: 2,
  onlineCpus: [0, 1],
  memoryBytes: 64n * 1024n ** 3n,
  swapBytes: 0n,
  swapController: false,
  hugepageSizes: [],
  thermalThrottlePaths: [],
  selinuxEnabled: false,
  inUserNamespace: false,
} as const
const LOOPS = ['observer', 'runtime health']
const STEP_MS = 500
const MOST_STEPS = 200

/** The agent in one process with its simulated runtime, by a clock that stands: what it does depends on nothing but itself. */
export async function startSmallAgent(pods: number) {
  const clock = new FakeClock()
  const cri = new SimulatedCri({ clock, images: ['registry.test/app:1'], newer: true })
  const stop = new AbortController()
  const tasks = new TaskGroup(stop.signal)
  const metrics = deferMetrics()
  const settings = await loadSettings([
    '--pod-manifest-path=/manifests',
    `--max-pods=${pods + 10}`,
    '--registry-qps=0',
    '--container-runtime-endpoint=unix:///simulated.sock',
  ])
  const kubelet = await composeKubelet(
    {
      settings,
      machine: MACHINE,
      objects: undefined,
      openFiles: Promise.resolve(1024),
      clock,
      log: silentLogger,
      random: () => 0.5,
      loopDelay: { percentile: () => 0 },
      memory: { idleCpuMs: () => 0, residentBytes: () => 0, collectGarbage: () => 0, trimMalloc() {}, unmapCode() {} },
      environment: {},
      workingDirectory: '/',
      write() {},
      verbosity: createVerbosity(0),
      onReady: async () => {},
      giveUp(error) {
        throw error
      },
      host: createSimulatedHost({
        name: 'node-1',
        address: '192.0.2.1',
        storage: '1Ti',
        cpus: 2,
        bootedAt: clock.now(),
        runtime: cri.runtime,
        usageOf: () => ({ cpuNanoseconds: 1_000_000n, workingSetBytes: 1_000_000n }),
        isAnswering: () => true,
      }),
      metrics,
      connectRuntime: async (options) => createSimulatedClient(cri, options),
      openTracing: async () => undefined,
      join: async () => ({
        cluster: undefined,
        membership: createLoneMembership({ objects: undefined, nodeName: 'node-1', log: silentLogger }),
      }),
    },
    { tasks, resources: new DisposableStack() },
  )
  for (const { name, run } of kubelet.loops) if (LOOPS.includes(name)) tasks.run(name, run)
  const { registry, sources } = kubelet
  sources.mux.set(
    'file',
    Array.from({ length: pods }, (_, index) => createDesiredPod(index)),
  )
  const isRunning = () => registry.views().filter(({ status }) => status?.phase === 'Running').length === pods
  for (let step = 0; step < MOST_STEPS && !isRunning(); step += 1) await clock.advance(STEP_MS)
  if (!isRunning()) throw new Error('The pods of the small agent do not run')
  // What was begun comes to its end.
  for (let step = 0; step < 20; step += 1) await clock.advance(STEP_MS)
  return { kubelet, clock, cri, metrics, uids: registry.views().map(({ pod }) => pod.metadata.uid) }
}

function createDesiredPod(index: number) {
  return createPod({
    metadata: {
      uid: `u-${index}`,
      name: `web-${index}`,
      namespace: 'shop',
      labels: { app: 'web', index: String(index) },
    },
    spec: {
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'Default',
      containers: [
        createContainer({ imagePullPolicy: 'IfNotPresent' }),
        createContainer({ name: 'side', imagePullPolicy: 'IfNotPresent' }),
      ],
    },
  })
}

/** All that follows from what was done is over: the clock stands, so only turns of the event loop are needed. */
export async function settle(turns = 6): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await setImmediate()
}
