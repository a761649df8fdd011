import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startAgent } from './create-agent.ts'
import { createWorld } from './create-world.ts'

test('an agent that cannot be set up says why on its node', async () => {
  await using world = await createWorld()
  const nodeEvents: string[] = []
  // The machine has no such NUMA node.
  const flags = ['--memory-manager-policy=Static', '--reserved-memory=9:memory=1Gi', '--system-reserved=memory=1Gi']
  await assert.rejects(startAgent(world, { flags, nodeEvents }), /NUMA node 9/)
  assert.deepEqual(nodeEvents, ['KubeletSetupFailed'])
})
