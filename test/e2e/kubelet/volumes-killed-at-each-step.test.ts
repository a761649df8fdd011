import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import type { Pod } from '../../../src/model/pod/pod.ts'
import type { KillMoment } from '../support/kill-plan.ts'
import { MortalNode } from '../support/mortal-node.ts'
import { isReady } from '../support/test-node.ts'
import { mountsOfPod, VolumePods } from '../support/volume-pods.ts'
import { waitFor } from '../support/wait-for.ts'

// How many pods share the steps, for each moment: more have fewer kills each, but take longer to start.
const PODS: Readonly<Record<KillMoment, number>> = { before: 4, unanswered: 2, together: 2, answered: 2 }
// Only what is done by a child process can go on, or end, in the middle. After any other step is before the next one: nothing of it is left
// but files.
const CHILD = /^(guarded|mount|umount) /
const PATIENCE_MS = 200_000

interface Found {
  readonly mounts: readonly string[]
  readonly written: readonly string[]
}

async function start(mortal: MortalNode, pods: VolumePods, uid: string): Promise<Found> {
  await mortal.node.lab.manifests.write(uid, await pods.prepare(uid))
  return await observe(mortal, pods, await mortal.podIs(uid, 'ready', isReady))
}

/** Agents come and go, so an observation may fail. */
async function observe({ node }: MortalNode, pods: VolumePods, pod: Pod): Promise<Found> {
  const { uid } = pod.metadata
  return await waitFor('an observation of the volumes', async () => ({
    mounts: await mountsOfPod(node.agent, uid),
    written: await pods.written(uid, node.agent),
  }))
}

async function end({ node }: MortalNode, uid: string): Promise<void> {
  await node.lab.manifests.remove(uid)
  const directory = `${node.agent.rootDir}/pods/${uid}`
  const isGone = async () => !existsSync(directory) && (await mountsOfPod(node.agent, uid)).length === 0
  await waitFor(`nothing of "${uid}" to be left`, isGone, {
    ms: PATIENCE_MS,
    context: async () => (await node.agent.log()).slice(-20).join('\n'),
  })
}

async function stepsOf(mortal: MortalNode, uid: string, event: 'answered' | 'killed'): Promise<readonly string[]> {
  return (await mortal.calls(uid)).flatMap((call) => (call.event === event ? [call.step] : []))
}

test(
  'the agent may be killed at every step of mounting and unmounting volumes, and nothing is lost, left or mounted twice',
  { timeout: 280_000 },
  async (t) => {
    await using pods = await VolumePods.create()
    await using mortal = await MortalNode.start('volume-kill-switch', {
      ...pods.objects.agent,
      environment: { ...pods.objects.agent.environment, KILL_QUIET_MS: '500' },
    })
    const first = 'volumed-first'
    const whole = await start(mortal, pods, first)
    assert.deepEqual(whole.written, Array(5).fill(`mark of ${first}\n`))
    assert.deepEqual([...new Set(whole.mounts)], whole.mounts)
    await end(mortal, first)
    assert.deepEqual(await pods.data(first), pods.expectedData(first))
    const steps = await stepsOf(mortal, first, 'answered')
    assert.equal(mortal.starts, 1)

    const lives = Object.entries(PODS).flatMap(([when, count]) =>
      Array.from({ length: count }, (_, index) => ({
        uid: `volumed-${when}-${index}`,
        when: when as KillMoment,
        steps: steps
          .filter((step) => when === 'before' || CHILD.test(step))
          .filter((_step, place) => place % count === index),
      })),
    )
    await mortal.plan(Object.fromEntries(lives.map(({ uid, when, steps: cut }) => [uid, { steps: cut, when }])))
    const bystander = 'volumed-bystander'
    const uids = [...lives.map(({ uid }) => uid), bystander]
    const marks = (uid: string) => Array<string>(5).fill(`mark of ${uid}\n`)
    await Promise.all(
      uids.map(async (uid) => {
        const expected = {
          mounts: whole.mounts.map((point) => point.replaceAll(first, uid)).toSorted(),
          written: marks(uid),
        }
        assert.deepEqual(await start(mortal, pods, uid), expected)
      }),
    )
    const running = await mortal.node.processes()
    const startKills = mortal.starts - 2
    await Promise.all(
      lives.map(async ({ uid }) => {
        await end(mortal, uid)
        assert.deepEqual(await pods.data(uid), pods.expectedData(uid))
      }),
    )
    const left = [...(await mortal.node.processes())]
    assert.deepEqual(
      left,
      [...running].filter(([id]) => id === left[0]?.[0]),
      'only the bystander runs on',
    )
    const bystanding = await mortal.podIs(bystander, 'ready', isReady)
    assert.deepEqual((await observe(mortal, pods, bystanding)).written, marks(bystander))
    const missed: string[] = []
    for (const { uid, steps: cut } of lives) {
      const struck = await stepsOf(mortal, uid, 'killed')
      missed.push(...cut.filter((step) => !struck.includes(step)).map((step) => `${uid}: ${step}`))
    }
    assert.deepEqual(mortal.crashes, [])
    const planned = lives.reduce((sum, { steps: cut }) => sum + cut.length, 0)
    t.diagnostic(
      `${steps.length} steps; ${planned} kills of ${lives.length} pods in ${mortal.starts - 2} ends of an agent`,
    )
    t.diagnostic(`${startKills} of them while pods started; missed ${missed.length}: ${missed.join(', ')}`)
    assert.ok(missed.length <= planned / 10, missed.join('\n'))
  },
)
