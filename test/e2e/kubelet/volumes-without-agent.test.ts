import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { NotedCall } from '../support/kill-plan.ts'
import { withKillSwitch } from '../support/built-agents.ts'
import { TestNode } from '../support/test-node.ts'
import { mountsOfPod, VolumePods } from '../support/volume-pods.ts'

const UID = 'volumed-alone'
const RELEASE = /^(umount |guarded (removeTree|releaseSubPaths) )/

test('what pods have while no agent runs stays; what is deleted meanwhile is stopped, unmounted and removed, in that order', async () => {
  await using pods = await VolumePods.create()
  const journal = join(pods.folder, 'journal')
  await writeFile(journal, '')
  await writeFile(join(pods.folder, 'plan.json'), '{}')
  const { agent } = pods.objects
  // It records what an agent does, and kills no agent without a plan.
  const options = { ...agent, environment: { ...agent.environment, KILL_SWITCH: pods.folder } }
  await using node = await TestNode.start(withKillSwitch('volume-kill-switch', options))
  const readSteps = async () => {
    const lines = (await readFile(journal, 'utf8')).trimEnd().split('\n').filter(Boolean)
    return lines.map((line) => JSON.parse(line) as NotedCall)
  }
  await node.lab.manifests.write(UID, await pods.prepare(UID))
  await node.ready(UID)
  const running = await node.processes()
  const mounts = await mountsOfPod(node.agent, UID)

  await node.agent.kill('SIGKILL')
  await writeFile(journal, '')
  await node.startAgent()
  await node.agent.healthy()
  await node.ready(UID)
  assert.deepEqual(await node.processes(), running)
  assert.deepEqual(await mountsOfPod(node.agent, UID), mounts)
  assert.deepEqual(await pods.written(UID, node.agent), Array(5).fill(`mark of ${UID}\n`))
  const changes = (await readSteps()).filter(({ step }) => RELEASE.test(step) || /^(mount|Stop|Remove)/.test(step))
  assert.deepEqual(changes, [])

  await node.agent.kill('SIGKILL')
  await writeFile(journal, '')
  await node.lab.manifests.remove(UID)
  await node.startAgent()
  await node.agent.healthy()
  const directory = `${node.agent.rootDir}/pods/${UID}`
  await node.waitFor('nothing of the pod to be left', async () => {
    return !existsSync(directory) && (await mountsOfPod(node.agent, UID)).length === 0
  })
  const isRemoval = ({ step, event }: { readonly step: string; readonly event: string }) =>
    step.startsWith('rmdir#') && event === 'answered'
  await node.waitFor('the removal to be written down', async () => (await readSteps()).some(isRemoval))
  const steps = await readSteps()
  const last = (isWanted: RegExp) =>
    steps.findLastIndex(({ step, event }) => isWanted.test(step) && event === 'answered')
  const first = (isWanted: RegExp) => steps.findIndex(({ step }) => isWanted.test(step))
  const order = [
    last(/^StopContainer /),
    first(RELEASE),
    last(RELEASE),
    last(/^RemoveContainer /),
    steps.findIndex(isRemoval),
  ]
  assert.equal(order.includes(-1), false, JSON.stringify(order))
  assert.deepEqual(
    order,
    order.toSorted((a, b) => a - b),
  )
  assert.equal((await node.containers(UID)).length, 0)
  assert.deepEqual(await pods.data(UID), pods.expectedData(UID))
})
