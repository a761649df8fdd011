import { readdir, readFile } from 'node:fs/promises'
import { PodSandboxState } from '../../src/protocols/cri/generated/runtime-v1.ts'
import { NODE_NAME } from '../e2e/lab/lab-agent.ts'
import type { Lab } from '../e2e/lab/start-lab.ts'
import type { TestNode } from '../e2e/support/test-node.ts'

const never = new AbortController().signal

/** What a pod has that runs, by its name in the manifest; and what runs in the lab of which Docker knows nothing. */
export async function findRunning(node: TestNode, name: string) {
  const labelSelector = { 'io.kubernetes.pod.name': `${name}-${NODE_NAME}` }
  const { items } = await node.runtime.listPodSandbox({ filter: { labelSelector } }, never)
  return {
    sandboxes: items.filter(({ state }) => state === PodSandboxState.SANDBOX_READY).length,
    containers: (await node.running(name)).map(({ metadata }) => metadata?.name ?? '').toSorted(),
    unknown: await findUnknown(node.lab),
  }
}

/** The names of processes in containers that do not run as far as Docker knows. */
export async function findUnknown({ cgroupRoot, docker }: Lab): Promise<readonly string[]> {
  const known = new Set((await docker.tasks()).map(({ id }) => id))
  const unknown: string[] = []
  for (const pid of (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry))) {
    const cgroups = await readFile(`/proc/${pid}/cgroup`, 'utf8').catch(() => '')
    const id = cgroups.includes(cgroupRoot) ? /[0-9a-f]{64}/.exec(cgroups)?.[0] : undefined
    if (id === undefined || known.has(id)) continue
    const name = (await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')).trim()
    if (name !== '') unknown.push(name)
  }
  return unknown
}
