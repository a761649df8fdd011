import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { createNodeIps, findNodeIps, parseCpuList, readMachine } from './read-machine.ts'

test('parseCpuList() reads the lists of the kernel', () => {
  assert.deepEqual(['0-3,8\n', '0\n', '', '2-2,5-6'].map(parseCpuList), [[0, 1, 2, 3, 8], [0], [], [2, 5, 6]])
})

test('findNodeIps() keeps the addresses given', () => {
  assert.deepEqual(findNodeIps(['192.0.2.1', 'fd00::1']), ['192.0.2.1', 'fd00::1'])
})

test('readMachine() finds what every machine has', () => {
  const machine = readMachine()
  assert.ok(machine.memoryBytes > 0n)
  assert.ok(machine.onlineCpus.length > 0)
})

test('createNodeIps() asks each time until there is an address, then every ten seconds', async () => {
  const clock = new FakeClock()
  const answers = [[], ['192.0.2.1'], ['192.0.2.2']]
  const nodeIps = createNodeIps(clock, [], () => answers.shift() ?? [])
  assert.deepEqual([nodeIps(), nodeIps(), nodeIps()], [[], ['192.0.2.1'], ['192.0.2.1']])
  await clock.advance(10_000)
  assert.deepEqual(nodeIps(), ['192.0.2.2'])
})
