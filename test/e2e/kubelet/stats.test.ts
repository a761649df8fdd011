import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { after, before, describe, test } from 'node:test'
import { systemClock } from '../../../src/base/async/clock.ts'
import { createCgroupReader } from '../../../src/system/cgroups/cgroup-reader.ts'
import { readMachine } from '../../../src/system/machine/read-machine.ts'
import { statsFiles } from '../../../src/system/directories/stats-files.ts'
import { Observer } from '../../../src/pods/observe/observer.ts'
import { computeResourceMetrics } from '../../../src/node/stats/reports/compute-resource-metrics.ts'
import { computeSummary } from '../../../src/node/stats/reports/compute-summary.ts'
import { listProcesses } from '../../../src/node/stats/sampling/list-processes.ts'
import { renderMetrics } from '../../../src/node/stats/reports/render-metrics.ts'
import { StatsEngine } from '../../../src/node/stats/stats-engine.ts'
import { silentLogger } from '../../../src/base/telemetry/silent-logger.ts'
import { parseExposition } from '../../fixtures/parse-exposition.ts'
import { scripts, testContainer, testPod } from '../support/test-pod.ts'
import { TestNode } from '../support/test-node.ts'

const { signal } = new AbortController()
const LOAD_MEBIBYTES = 64
const WATCHED_MS = 3000
const TICKS_PER_SECOND = 100
const BUSY = `dd if=/dev/zero of=/dev/shm/load bs=1M count=${LOAD_MEBIBYTES} 2> /dev/null
echo started $EPOCHREALTIME; while :; do :; done`

function assertNear(actual: number | undefined, expected: number, what: string): void {
  assertBetween(actual, [expected, expected], what)
}

/** Within 5 % of two readings by ourselves, of which one was taken before and one after. */
function assertBetween(actual: number | undefined, [low, high]: readonly [number, number], what: string): void {
  const isNear = actual !== undefined && actual >= low * 0.95 && actual <= high * 1.05
  assert.ok(isNear, `${what} is ${actual}, expected ${low} to ${high} within 5 %`)
}

describe('what the node says that its pods use', () => {
  let node: TestNode
  before(async () => {
    node = await TestNode.start()
  })
  after(() => node[Symbol.asyncDispose]())

  function createEngine(observer: Observer): StatsEngine {
    const machine = readMachine()
    const deps = {
      observed: observer,
      calls: node.runtime,
      cgroups: createCgroupReader(machine.cgroupVersion),
      layout: { driver: 'cgroupfs', root: node.lab.cgroupRoot, perQos: true },
      files: statsFiles,
      pressure: true,
      volumes: () => [],
      systemCgroups: {},
      machine,
      rootDirectory: node.agent.rootDir,
      podLogsDirectory: node.podLogs,
      intervalMs: 10_000,
      clock: systemClock,
      log: silentLogger,
    } as const
    return new StatsEngine(deps, signal)
  }

  test('cpu and memory are what the cgroup files, the process and its load say', async () => {
    const resources = { requests: { memory: '128Mi' }, limits: { cpu: '500m', memory: '128Mi' } }
    const containers = [testContainer('busy', BUSY, { resources }), testContainer('idle', scripts.obedient)]
    await node.lab.manifests.write('loaded', testPod('loaded', { containers }))
    const pod = await node.ready('loaded')
    await node.waitFor('the load', async () =>
      (await node.logLines(pod, 'busy')).some(({ text }) => text.startsWith('started')),
    )
    const observer = new Observer({ runtime: node.runtime, clock: systemClock, onChange: () => {} }, signal)
    await observer.relist()
    const engine = createEngine(observer)
    const summary = async () => {
      const snapshot = await engine.ask(['usage', 'network', 'disk'], signal, 0)
      const { pods } = computeSummary(snapshot, { nodeName: 'lab', onlyCpuAndMemory: false })
      const found = pods.find(({ podRef }) => podRef.uid === pod.metadata.uid)
      const stats = snapshot.pods.find(({ uid }) => uid === pod.metadata.uid)
      const cgroup = stats?.containers.find(({ name }) => name === 'busy')?.cgroup?.path ?? ''
      return { snapshot, found, cgroup, main: found?.containers.find(({ name }) => name === 'busy') }
    }

    const files = createCgroupReader(readMachine().cgroupVersion)
    const [pid = 0] = listProcesses(files, (await summary()).cgroup)
    const watch = () => ({ cpu: processSeconds(pid), at: performance.now() / 1000 })
    const [a, before, b] = [watch(), await summary(), watch()]
    await sleep(WATCHED_MS)
    const [c, { snapshot, found, cgroup, main }, d] = [watch(), await summary(), watch()]
    const used = (main?.cpu?.usageCoreNanoSeconds ?? 0) - (before.main?.cpu?.usageCoreNanoSeconds ?? 0)
    const [least, most] = [c.cpu - b.cpu, d.cpu - a.cpu]
    assertBetween(used / 1e9, [least, most], 'cpu time')
    const cores = (main?.cpu?.usageNanoCores ?? 0) / 1e9
    assertBetween(cores, [least / (d.at - a.at), most / (c.at - b.at)], 'cpu in use')
    assertNear(main?.memory?.workingSetBytes, LOAD_MEBIBYTES * 1024 * 1024, 'memory')
    assertNear(main?.memory?.availableBytes, (128 - LOAD_MEBIBYTES) * 1024 * 1024, 'memory that is left')

    const file = files.version === 2 ? 'memory.current' : 'memory.usage_in_bytes'
    assertNear(main?.memory?.usageBytes, Number(files.read('memory', cgroup, file)), 'all memory')
    // The pod has nothing else that uses anything.
    assertNear(found?.memory?.workingSetBytes, main?.memory?.workingSetBytes ?? 0, 'memory of the pod')
    assert.deepEqual(
      [
        found?.containers.map(({ name }) => name),
        found?.network?.name,
        (found?.process_stats?.process_count ?? 0) >= 3,
      ],
      [['busy', 'idle'], 'eth0', true],
    )
    assert.equal((found?.['ephemeral-storage']?.usedBytes ?? 0) > 0, true)

    const metrics = parseExposition(await renderMetrics(computeResourceMetrics(snapshot), 'text'))
    const cpu = metrics.find(({ name }) => name === 'container_cpu_usage_seconds_total')?.samples ?? []
    assert.deepEqual(
      cpu.map(({ labels }) => labels['container']),
      ['busy', 'idle'],
    )
    assertNear(cpu[0]?.value, (main?.cpu?.usageCoreNanoSeconds ?? 0) / 1e9, 'cpu for scrapers')
  })

  test('open files, sockets and their limit are those of the processes', async () => {
    const opens =
      'exec 7< /dev/null 8< /dev/null; echo open; ulimit -n; trap "exit 0" TERM; while :; do sleep 0.1 & wait $!; done'
    await node.lab.manifests.write('opens', testPod('opens', { containers: [testContainer('main', opens)] }))
    const pod = await node.ready('opens')
    const said = async () => (await node.logLines(pod, 'main')).map(({ text }) => text)
    await node.waitFor('the files', async () => (await said()).length >= 2)
    const observer = new Observer({ runtime: node.runtime, clock: systemClock, onChange: () => {} }, signal)
    await observer.relist()
    const snapshot = await createEngine(observer).ask(['usage', 'details'], signal, 0)
    const usage = snapshot.pods.find(({ uid }) => uid === pod.metadata.uid)
    const cgroup = usage?.containers[0]?.cgroup
    const { processes = 0, descriptors = 0, sockets, openFilesLimit } = cgroup?.processes ?? {}
    // Its three streams and two files; the process that sleeps has them too.
    assert.ok(processes >= 1 && descriptors >= 5 && descriptors <= processes * 8, `${processes} ${descriptors}`)
    assert.deepEqual([sockets, openFilesLimit], [0, Number((await said())[1])])
    assert.deepEqual(usage?.cgroup?.processes?.processes, 0)
    assert.ok((cgroup?.sample.details?.cpuPeriodMicros ?? 0) > 0)
  })
})

/** Cpu time of a process as the kernel counts it elsewhere. */
function processSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}
