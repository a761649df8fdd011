import { readdir } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { BUSYBOX_IMAGE } from '../../src/standalone/images/node-images.ts'
import type { Samples } from './rows.ts'
import { startBenchAgent } from './scenario.ts'
import type { Bench, Scenario } from './scenario.ts'
import { cpuSeconds } from './usage.ts'
import { now, waitFor } from './wait.ts'
import { createWitness, readProbeGap, waitForWitness } from './witness.ts'

const DEADLINE_MS = 300_000
const SETTLE_MS = 60_000
const WINDOW_MS = 60_000

/** A node that is full of pods that end at once, over and over, and one that has to be looked after all the same. */
export const crashesScenario: Scenario = {
  name: 'crashes',
  rows: ['crash-cpu', 'crash-starts', 'crash-probe-gap'],
  async measure(bench: Bench): Promise<Samples> {
    const { lab, pods, signal } = bench
    const agent = await startBenchAgent(bench)
    const podLogs = String(agent.config['podLogsDir'])
    await lab.manifests.write('witness', createWitness())
    await waitForWitness(podLogs, signal)
    const began = now()
    for (let index = 0; index < pods; index += 1) {
      const name = `crash-${String(index).padStart(3, '0')}`
      await lab.manifests.write(name, createCrashing(name))
    }
    const haveEnded = async () => (await listStarts(podLogs)).length >= pods
    await waitFor(`${pods} pods to crash`, haveEnded, { pollMs: 500, deadlineMs: DEADLINE_MS, signal })
    await sleep(SETTLE_MS, undefined, { signal })
    const [cpu, from, starts] = [await cpuSeconds(agent.pid), now(), await countStarts(podLogs)]
    await sleep(WINDOW_MS, undefined, { signal })
    const [cpuAfter, to, startsAfter] = [await cpuSeconds(agent.pid), now(), await countStarts(podLogs)]
    const seconds = (to - from) / 1000
    return {
      'crash-cpu': [((cpuAfter - cpu) / seconds) * 100],
      'crash-starts': [(startsAfter - starts) / seconds],
      // All of it: also while they are started for the first time.
      'crash-probe-gap': [await readProbeGap(podLogs, { from: began, to })],
    }
  },
}

function createCrashing(name: string): object {
  const main = { name: 'main', image: BUSYBOX_IMAGE, imagePullPolicy: 'Never', command: ['sh', '-c', 'exit 1'] }
  const spec = { automountServiceAccountToken: false, enableServiceLinks: false, containers: [main] }
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default' }, spec }
}

/** The newest log of each crashing pod; its number says how often it was started before. */
async function listStarts(podLogs: string): Promise<readonly number[]> {
  const pods = (await readdir(podLogs)).filter((name) => name.startsWith('default_crash-'))
  const logs = await Promise.all(pods.map((pod) => readdir(`${podLogs}/${pod}/main`).catch(() => [])))
  return logs
    .filter((names) => names.length > 0)
    .map((names) => Math.max(...names.map((name) => Number.parseInt(name, 10))))
}

async function countStarts(podLogs: string): Promise<number> {
  return (await listStarts(podLogs)).reduce((sum, restarts) => sum + restarts + 1, 0)
}
