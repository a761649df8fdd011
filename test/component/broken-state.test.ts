import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { MACHINES } from '../builders/cpu-machines.ts'
import { FakeStateFile } from '../fakes/fake-state-file.ts'
import { formatFinishedPod } from '../../src/pods/sync/report/parse-finished-pod.ts'
import { combine, startAgent } from './create-agent.ts'
import type { AgentOptions, World } from './create-agent.ts'
import { createWantedPod, createWorld, running } from './create-world.ts'
import { staticMemory } from './static-memory.ts'

/** With every state file that there is on a CRI runtime; on Docker also `cni_cache_folders`, of which moving-records.test.ts knows. */
function withAll(world: World): AgentOptions {
  const memory = staticMemory(world, new FakeStateFile('memory_manager_state'))
  return combine(memory, {
    cpuPlaces: MACHINES['one socket'],
    flags: ['--cpu-manager-policy=static', '--reserved-cpus=0'],
  })
}

const NAMES = [
  'actuated_pods_state',
  'allocated_pods_state',
  'cpu_manager_state',
  'dra_health_state',
  'dra_manager_state',
  'graceful_node_shutdown_state',
  'kubelet_internal_checkpoint',
  'memory_manager_state',
]

/** All of them, in whatever place the world has them. */
function files({ stateFiles, deviceFile, otherFiles }: World): readonly FakeStateFile[] {
  const own = [stateFiles.allocated, stateFiles.actuated, deviceFile]
  const others = NAMES.filter((name) => !own.some(({ path }) => path === name))
  const make = (name: string) => otherFiles.getOrInsertComputed(name, () => new FakeStateFile(name)) as FakeStateFile
  return [...own, ...others.map(make)]
}

describe('an agent with state files that cannot be used', () => {
  for (const [what, spoil] of [
    ['directories in their place', (file: FakeStateFile) => (file.readFailure = new Error('EISDIR'))],
    ['a disk that cannot be read', (file: FakeStateFile) => (file.readFailure = new Error('EIO'))],
    ['garbage in them', (file: FakeStateFile) => (file.text = '{"')],
  ] as const)
    test(`starts with ${what}, sets all aside and says so on the node`, async () => {
      await using world = await createWorld()
      const options = withAll(world)
      const all = files(world)
      for (const file of all) spoil(file)
      const nodeEvents: string[] = []
      await using agent = await startAgent(world, { ...options, nodeEvents })
      agent.setPods([createWantedPod()])
      await agent.settle()
      assert.deepEqual(running(world), ['main'])
      const aside = all.filter((file) => file.aside.length === 1).map(({ path }) => path)
      assert.deepEqual(aside.sort(), NAMES)
      assert.equal(nodeEvents.filter((reason) => reason === 'StateFileSetAside').length, NAMES.length)
      assert.equal(agent.counted.filter((line) => line === 'set aside state').length, NAMES.length)
    })
})

const noDescriptor = () => Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' })

describe('an agent without a descriptor to read its state', () => {
  /** What becomes of a start, while time goes on. */
  async function tryStart(world: World, options: AgentOptions): Promise<unknown> {
    const life = { isOver: false }
    const outcome = startAgent(world, options)
      .catch((error: unknown) => error)
      .finally(() => (life.isOver = true))
    for (let turns = 0; turns < 100_000 && !life.isOver; turns += 1) await world.clock.advance(50)
    return await outcome
  }

  for (const name of NAMES)
    test(`does not begin without ${name}, and keeps it for the next start`, async () => {
      await using world = await createWorld()
      const options = withAll(world)
      const file = files(world).find(({ path }) => path === name)
      assert.ok(file)
      file.text = '{"'
      file.readFailure = noDescriptor()
      const nodeEvents: string[] = []
      const error = await tryStart(world, { ...options, nodeEvents })
      assert.ok(Error.isError(error))
      assert.equal(error.message, `Cannot read "${name}" now, it is left as it is: EMFILE: too many open files`)
      assert.deepEqual([file.text, file.aside, nodeEvents], ['{"', [], ['KubeletSetupFailed']])
    })

  test('does not begin without the notes of finished pods, and runs none of those again later', async () => {
    await using world = await createWorld()
    const pod = createWantedPod('u-1', { restartPolicy: 'Never' })
    const note = formatFinishedPod(pod.metadata.uid, { phase: 'Succeeded' })
    world.journalFiles.files.set('u-1.json', note)
    world.journalFiles.failure = noDescriptor()
    assert.match(String(await tryStart(world, {})), /Cannot read ".*finished-pods" now/)
    assert.deepEqual([...world.journalFiles.files], [['u-1.json', note]])
    world.journalFiles.failure = undefined
    await using agent = await startAgent(world)
    agent.setPods([pod])
    await agent.settle()
    assert.deepEqual([running(world), agent.statusOf('u-1')?.phase], [[], 'Succeeded'])
  })

  test('begins late when one is to spare again in a moment, and knows everything', async () => {
    await using world = await createWorld()
    const pod = createWantedPod('u-1', { restartPolicy: 'Never' })
    world.journalFiles.files.set('u-1.json', formatFinishedPod(pod.metadata.uid, { phase: 'Succeeded' }))
    world.journalFiles.failure = noDescriptor()
    const starting = startAgent(world)
    const isWaiting = () => world.journalFiles.failed > 0
    for (let turns = 0; turns < 100_000 && !isWaiting(); turns += 1) await world.clock.advance(0)
    world.journalFiles.failure = undefined
    await world.clock.advance(100)
    await using agent = await starting
    agent.setPods([pod])
    await agent.settle()
    assert.deepEqual([running(world), agent.statusOf('u-1')?.phase], [[], 'Succeeded'])
  })

  test('lives on when a note of a pod cannot be read, and looks after the pod when it can', async () => {
    await using world = await createWorld()
    const { terminationNotes } = world.files
    const { read } = terminationNotes
    let isShort = true
    terminationNotes.read = (uid) => (isShort ? Promise.reject(noDescriptor()) : read(uid))
    await using agent = await startAgent(world)
    agent.setPods([createWantedPod()])
    await agent.pass(5000)
    assert.deepEqual(running(world), [])
    isShort = false
    await agent.pass(30_000)
    assert.deepEqual(running(world), ['main'])
  })
})
