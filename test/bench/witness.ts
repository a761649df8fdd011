import { readdir, readFile } from 'node:fs/promises'
import { BUSYBOX_IMAGE } from '../../src/standalone/images/node-images.ts'
import { longestGap } from './probe-periods.ts'
import { waitFor } from './wait.ts'

const NAME = 'witness'
const PERIOD_MS = 1000
const DEADLINE_MS = 120_000

/** A pod that is asked for its liveness over HTTP each second and says so in its log: it shows whether the agent starves it. */
export function createWitness(): object {
  const probe = { periodSeconds: PERIOD_MS / 1000, failureThreshold: 30, httpGet: { port: 8080, path: '/alive' } }
  const main = {
    name: 'main',
    image: BUSYBOX_IMAGE,
    imagePullPolicy: 'Never',
    command: ['sh', '-c', 'mkdir /www; echo yes > /www/alive; exec httpd -f -v -p 8080 -h /www'],
    livenessProbe: probe,
  }
  const spec = {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    priorityClassName: 'system-node-critical',
    containers: [main],
  }
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: NAME, namespace: 'kube-system' }, spec }
}

/** Waits until the witness is probed. */
export async function waitForWitness(podLogs: string, signal: AbortSignal): Promise<void> {
  const isProbed = async () => (await readProbes(podLogs)).length > 1
  await waitFor('the witness to be probed', isProbed, { pollMs: 200, deadlineMs: DEADLINE_MS, signal })
}

/** The longest time without a probe of it in a stretch of time, in seconds. */
export async function readProbeGap(
  podLogs: string,
  window: { readonly from: number; readonly to: number },
): Promise<number> {
  const times = (await readProbes(podLogs)).filter((time) => time >= window.from && time <= window.to)
  return longestGap(times, { ...window, periodMs: PERIOD_MS }) / 1000
}

/** When it was asked, in ms since the epoch. */
async function readProbes(podLogs: string): Promise<readonly number[]> {
  const pod = (await readdir(podLogs).catch(() => [])).find((name) => name.startsWith(`kube-system_${NAME}-`))
  const text = pod === undefined ? '' : await readFile(`${podLogs}/${pod}/main/0.log`, 'utf8').catch(() => '')
  const lines = text.split('\n').filter((line) => line.endsWith('response:200'))
  return lines.map((line) => Date.parse(line.split(' ')[0] ?? ''))
}
