import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { cgroupFolders, makeCgroup } from '../../../src/system/cgroups/cgroup-tree.ts'
import { scripts, testContainer, testPod } from '../../e2e/support/test-pod.ts'
import type { TestNode } from '../../e2e/support/test-node.ts'
import type { MadeFault } from '../fault-row.ts'
import type { SmallNode } from './disk.ts'

// Longer than a child process that has nothing to do is kept.
const LONG_ENOUGH_MS = 20_000

/** A way to say how many processes the agent may have besides those that it has. */
async function limitProcesses({ lab, agent }: TestNode): Promise<(limit: 'max' | '1') => Promise<void>> {
  const path = `${lab.cgroupRoot}/agent`
  makeCgroup(path)
  const folder = (await cgroupFolders(path)).find((each) => existsSync(`${each}/pids.max`))
  assert.ok(folder !== undefined, 'the machine counts processes of cgroups')
  await writeFile(`${folder}/cgroup.procs`, String(agent.pid))
  return async (limit) => await writeFile(`${folder}/pids.max`, limit)
}

export const processRows: readonly MadeFault<SmallNode>[] = [
  {
    name: 'out-of-processes',
    fault: 'the agent may start no more processes and threads',
    injection: 'a cgroup that allows one process; pods with volumes come, and one goes, meanwhile',
    invariants: ['once', 'kept', 'steady', 'lives', 'status', 'handles'],
    quick: false,
    async run({ node, steady }) {
      const { manifests } = node.lab
      await steady.begin()
      const volumes = [{ name: 'v', hostPath: { path: node.lab.folder, type: 'Directory' } }]
      const main = testContainer('main', scripts.obedient, { volumeMounts: [{ name: 'v', mountPath: '/v' }] })
      await manifests.write('leaving', testPod('leaving', { volumes, containers: [main] }))
      const leaving = await node.ready('leaving')
      const limit = await limitProcesses(node)
      await limit('1')
      await sleep(LONG_ENOUGH_MS)
      await manifests.write('starved', testPod('starved', { volumes, containers: [main] }))
      await manifests.remove('leaving')
      await node.podIs('starved', 'waiting', ({ status }) => status?.phase === 'Pending')
      await node.logged('default/starved-lab', 'EAGAIN')
      await sleep(LONG_ENOUGH_MS)
      await steady.verify()
      await limit('max')
      const pod = await node.ready('starved', LONG_ENOUGH_MS * 6)
      assert.equal(await node.starts('starved'), 1)
      await node.gone(leaving)
      await manifests.remove('starved')
      await node.gone(pod)
      await steady.verify()
    },
  },
]
