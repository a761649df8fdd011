import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import type { LabAgent } from '../lab/lab-agent.ts'
import type { LabManifests } from '../lab/lab-manifests.ts'
import { countLeftovers } from './count-leftovers.ts'
import type { Leftovers } from './count-leftovers.ts'
import { isReady } from './test-node.ts'
import type { VolumePods } from './volume-pods.ts'
import { waitFor } from './wait-for.ts'

export interface VolumeCycles {
  readonly agent: LabAgent
  readonly manifests: LabManifests
  readonly pods: VolumePods
  readonly podsAtOnce: number
  readonly rounds: number
}

const PATIENCE_MS = 120_000

/**
 * Creates pods with a volume of every kind and removes them, round by round, and fails when the agent holds or leaves more afterwards than
 * after one pod before. The next round begins while what is left of the last one is still removed.
 */
export async function cycleVolumePods(cycles: VolumeCycles): Promise<void> {
  const { agent, pods } = cycles
  const before = await leavesNothing(cycles, await runRound(cycles, ['volumed-first']))
  const all: string[] = []
  for (let round = 0; round < cycles.rounds; round += 1) {
    const uids = Array.from({ length: cycles.podsAtOnce }, (_, index) => `volumed-${round}-${index}`)
    all.push(...(await runRound(cycles, uids)))
  }
  const after = await leavesNothing(cycles, all, before)
  assert.deepEqual({ ...after, descriptors: {} }, { ...before, pods: [], mounts: [], children: 0, descriptors: {} })
  const complaints = (await agent.log()).filter((line) => line.startsWith('E') || line.includes('they stay'))
  assert.deepEqual(complaints, [])
  for (const uid of all) assert.deepEqual(await pods.data(uid), pods.expectedData(uid))
}

async function runRound({ agent, manifests, pods }: VolumeCycles, uids: readonly string[]): Promise<readonly string[]> {
  await Promise.all(uids.map(async (uid) => await manifests.write(uid, await pods.prepare(uid))))
  const context = async () => (await agent.log()).slice(-20).join('\n')
  await waitFor(
    `pods such as "${uids[0]}" to be ready`,
    async () => {
      const ready = (await agent.pods()).filter(isReady).map(({ metadata }) => metadata.uid)
      return uids.every((uid) => ready.some((found) => found === uid))
    },
    { ms: PATIENCE_MS, pollMs: 200, context },
  )
  await Promise.all(uids.map((uid) => manifests.remove(uid)))
  return uids
}

/**
 * Waits until nothing is left of these pods and the agent holds no more than it did before. Idle children and connections of its clients
 * stay for a while.
 */
async function leavesNothing(
  { agent, pods }: VolumeCycles,
  uids: readonly string[],
  before?: Leftovers,
): Promise<Leftovers> {
  const observe = async () => {
    const found = await countLeftovers(agent)
    const descriptors = Object.entries(before?.descriptors ?? found.descriptors)
    const more = Object.entries(found.descriptors).filter(
      ([kind, count]) => count > (descriptors.find(([known]) => known === kind)?.[1] ?? 0),
    )
    const left = uids.filter((uid) => existsSync(`${agent.rootDir}/pods/${uid}`))
    return { found, trouble: [...left, ...found.mounts, ...more.flat(), ...Array(found.children).fill('child')] }
  }
  const found = await waitFor(
    'nothing of the pods to be left',
    async () => {
      const now = await observe()
      return now.trouble.length === 0 && now.found
    },
    { ms: PATIENCE_MS, pollMs: 200, context: async () => JSON.stringify(await observe(), undefined, 2) },
  )
  for (const uid of uids) await pods.forget(uid)
  return found
}
