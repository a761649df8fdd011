import { readdir, readFile } from 'node:fs/promises'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { writeFileDurably } from '../../src/system/files/state/durable-file.ts'
import { computeNodeLayout } from '../../src/standalone/node/node-layout.ts'
import type { NodeLayout } from '../../src/standalone/node/node-layout.ts'
import { LabManifests } from '../e2e/lab/lab-manifests.ts'
import type { Lab } from '../e2e/lab/start-lab.ts'
import { startNode } from './standalone-node.ts'
import type { Samples } from './rows.ts'
import type { Bench, Scenario } from './scenario.ts'
import { cpuSeconds } from './usage.ts'
import { waitFor } from './wait.ts'
import { createWorkload, WorkloadLogs } from './workload.ts'

const DEADLINE_MS = 60_000
const TURNS = 4
// The agent finds it again, and looks at all pods.
const RECONNECT_MS = 3000
// What is left of a pod that has ended is the runtime's to tidy up.
const SETTLE_MS = 300
// The pod logs when it started, by its own clock: to ask more often only takes CPU time from it.
const often = { pollMs: 20, deadlineMs: DEADLINE_MS }

/** One pod after another on a standalone node, with its own settings and with those of before, in turns of some pods each. */
export const nodeStartScenario: Scenario = {
  name: 'node-start',
  rows: ['node-start', 'node-start-before', 'node-start-share', 'node-start-cpu', 'node-start-cpu-before'],
  isOwn: true,
  async measure({ lab, runs, signal }: Bench): Promise<Samples> {
    await using _node = await startNode(lab, signal)
    const layout = computeNodeLayout(`${lab.folder}/state`)
    const settings = await readSettings(layout)
    const found = {
      own: { times: [] as number[], cpu: [] as number[] },
      before: { times: [] as number[], cpu: [] as number[] },
    }
    for (let turn = 0; turn < 2 * TURNS; turn += 1) {
      const kind = turn % 2 === 0 ? 'own' : 'before'
      for (const { path, own, before } of settings) await writeFileDurably(path, kind === 'own' ? own : before)
      await restartRuntime(lab, layout, signal)
      // The first pod pays for what the runtime loads only once.
      for (let run = 0; run <= Math.ceil(runs / TURNS); run += 1) {
        const { time, cpu } = await runPod(lab, layout, `start-${turn}-${run}`, signal)
        if (run === 0) continue
        found[kind].times.push(time)
        found[kind].cpu.push(cpu)
      }
    }
    return {
      'node-start': found.own.times,
      'node-start-before': found.before.times,
      'node-start-share': found.own.times.map((time, index) => time / (found.before.times[index] ?? Number.NaN)),
      'node-start-cpu': found.own.cpu,
      'node-start-cpu-before': found.before.cpu,
    }
  },
}

interface Setting {
  readonly path: string
  readonly own: string
  readonly before: string
}

/** What the runtime of the node is set to, and what that was before it was measured: runc, and masquerading by the bridge plugin. */
async function readSettings({ containerd }: NodeLayout): Promise<readonly Setting[]> {
  const [file = ''] = await readdir(containerd.cniConfig)
  const [network, runtime] = [`${containerd.cniConfig}/${file}`, containerd.config]
  const [ownNetwork, ownRuntime] = [await readFile(network, 'utf8'), await readFile(runtime, 'utf8')]
  const before = ownNetwork.replace('"ipMasq": false', '"ipMasq": true')
  if (before === ownNetwork) throw new Error(`Cannot compare: the bridge plugin masquerades, see "${network}"`)
  const runc = ownRuntime.replaceAll('BinaryName = "crun"', 'BinaryName = "runc"')
  if (runc === ownRuntime) console.error('node-start: containers run with runc, also with the settings of today')
  return [
    { path: network, own: ownNetwork, before },
    { path: runtime, own: ownRuntime, before: runc },
  ]
}

/** The node starts its containerd again by itself, with the settings that are there then. */
async function restartRuntime(lab: Lab, { containerd }: NodeLayout, signal: AbortSignal): Promise<void> {
  const old = await readPid(containerd.identity)
  const pid = await lab.outerPid(old)
  if (pid === undefined) throw new Error('Cannot find the containerd of the node')
  process.kill(pid, 'SIGTERM')
  const isBack = async () =>
    (await readPid(containerd.identity)) !== old && (await findTasks(lab, containerd)) !== undefined
  await waitFor('containerd to be back', isBack, { pollMs: 100, deadlineMs: DEADLINE_MS, signal })
  await sleep(RECONNECT_MS, undefined, { signal })
}

async function readPid(identity: string): Promise<number> {
  return Number(/\d+/.exec(await readFile(identity, 'utf8').catch(() => '0'))?.[0])
}

/** Undefined while the runtime does not answer. */
async function findTasks(lab: Lab, { socket }: NodeLayout['containerd']): Promise<number | undefined> {
  const argv = ['ctr', '--address', socket, '--namespace', 'k8s.io', 'tasks', 'ls', '--quiet']
  const { exitCode, stdout } = await lab.runInside(argv)
  return exitCode === 0 ? stdout.trim().split('\n').filter(Boolean).length : undefined
}

/** Runs a pod from its start to its end: how long it took to its first instruction, and the CPU time of the runtime for it, in seconds. */
export async function runPod(lab: Lab, layout: NodeLayout, name: string, signal: AbortSignal) {
  const logs = new WorkloadLogs(layout.podLogs)
  const manifests = new LabManifests(layout.manifests, lab.folder)
  const others = await findTasks(lab, layout.containerd)
  const before = await runtimeCpu(lab, layout)
  const written = await manifests.write(name, createWorkload(name))
  const find = async () => (await logs.pods()).find((pod) => pod.startsWith(`default_${name}-`))
  const pod = await waitFor(`the log of ${name}`, find, { ...often, signal })
  const started = await waitFor(`the start of ${name}`, () => logs.time(pod, 0, 'started'), { ...often, signal })
  await sleep(SETTLE_MS, undefined, { signal })
  const cpu = (await runtimeCpu(lab, layout)) - before
  await manifests.remove(name)
  const isGone = async () => (await findTasks(lab, layout.containerd)) === others
  await waitFor(`the end of ${name}`, isGone, { ...often, pollMs: 100, signal })
  await sleep(SETTLE_MS, undefined, { signal })
  return { time: (started - written) / 1000, cpu }
}

/** CPU time of containerd with all that it ran, and of the shims with the OCI runtime; not of the containers. */
async function runtimeCpu(lab: Lab, { containerd, state }: NodeLayout): Promise<number> {
  const pid = (await lab.outerPid(await readPid(containerd.identity))) ?? 0
  const isOther = (name: string) => !name.startsWith('containerd')
  let sum = await cpuSeconds(pid, isOther)
  for (const each of (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)) {
    const command = await readFile(`/proc/${each}/cmdline`, 'latin1').catch(() => '')
    if (command.includes('containerd-shim') && command.includes(state)) sum += await cpuSeconds(each, isOther)
  }
  return sum
}
