import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { MACHINES } from '../builders/cpu-machines.ts'
import { FakeStateFile } from '../fakes/fake-state-file.ts'
import { combine, startAgent } from './create-agent.ts'
import type { AgentOptions, World } from './create-agent.ts'
import { createWantedPod, createWorld, running } from './create-world.ts'
import { staticMemory } from './static-memory.ts'

/** With every state file that there is. */
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
  'dra_manager_state',
  'graceful_node_shutdown_state',
  'kubelet_internal_checkpoint',
  'memory_manager_state',
]

function files({ stateFiles, deviceFile, otherFiles }: World): readonly FakeStateFile[] {
  const others = NAMES.filter((name) => name.endsWith('_manager_state') || name.startsWith('graceful'))
  const make = (name: string) => otherFiles.getOrInsertComputed(name, () => new FakeStateFile(name)) as FakeStateFile
  return [stateFiles.allocated, stateFiles.actuated, deviceFile, ...others.map(make)]
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
