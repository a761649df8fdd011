import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import process from 'node:process'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ContainerState } from '../../../src/protocols/cri/generated/runtime-v1.ts'
import { testPod } from '../support/test-pod.ts'
import { isReady, TestNode } from '../support/test-node.ts'

const PODS = 30
const KILLS = 10

/** Numbers from 0 to 1 that a seed decides (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

test(`a roll-out of ${PODS} pods survives ${KILLS} kills of the agent`, async (t) => {
  const seed = Number(process.env['SEED'] ?? randomInt(2 ** 31))
  t.diagnostic(`SEED=${seed}`)
  const random = createRandom(seed)
  await using node = await TestNode.start()
  const names = Array.from({ length: PODS }, (_, index) => `p${index}`)
  await Promise.all(names.map((name) => node.lab.manifests.write(name, testPod(name))))
  const survivors = new Map<string, number>()
  for (let kills = 0; kills < KILLS; kills += 1) {
    await sleep(100 + random() * 1600)
    for (const [id, pid] of await node.processes()) survivors.set(id, pid)
    await node.agent.kill('SIGKILL')
    await node.startAgent()
  }
  await node.waitFor(
    'all pods to be ready',
    async () => {
      const pods = await node.agent.pods()
      return pods.length === PODS && pods.every(isReady)
    },
    60_000,
  )
  t.diagnostic(`${survivors.size} containers ran at a kill`)
  const processes = await node.processes()
  for (const [id, pid] of survivors) assert.equal(processes.get(id), pid, `container ${id} did not survive`)
  const counts = await Promise.all(
    names.map(async (name) => {
      const status = (await node.agent.pod(name))?.status?.containerStatuses?.[0]
      const instances = (await node.containers(name)).map(({ id }) => node.inspect(id))
      const ends = (await Promise.all(instances)).flatMap(({ status: { state, message } }) => {
        return state === ContainerState.CONTAINER_RUNNING ? [] : [message]
      })
      const running = instances.length - ends.length
      return { name, starts: await node.starts(name), restarts: status?.restartCount, running, ends }
    }),
  )
  // A start that the runtime breaks off because its caller died may have come as far as the workload's first words, and is no restart.
  const odd = counts.filter(({ restarts, running }) => running !== 1 || restarts !== 0)
  assert.deepEqual(odd, [])
  const starts = counts.reduce((sum, count) => sum + count.starts, 0)
  assert.ok(starts <= PODS + KILLS, `${starts} starts`)
})
