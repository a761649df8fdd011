import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseCpuCounts, readCpuCounts } from './read-cpu-counts.ts'

const cpu = (processor: number, socket: number, core: number) =>
  `processor\t: ${processor}\nmodel name\t: X\nphysical id\t: ${socket}\ncore id\t\t: ${core}\n`

describe('parseCpuCounts()', () => {
  test('counts the two threads of a core once', () => {
    const text = [cpu(0, 0, 0), cpu(1, 0, 1), cpu(2, 1, 0), cpu(3, 0, 0)].join('\n')
    assert.deepEqual(parseCpuCounts(text), { cores: 4, physicalCores: 3, sockets: 2 })
  })

  test('takes each cpu for a core where nothing else is said', () => {
    const text = 'processor\t: 0\nBogoMIPS\t: 50\n\nprocessor\t: 1\nBogoMIPS\t: 50\n\nHardware\t: X\n'
    assert.deepEqual(parseCpuCounts(text), { cores: 2, physicalCores: 2, sockets: 1 })
  })

  test('reads this machine', () => {
    const { cores, physicalCores, sockets } = readCpuCounts()
    assert.equal(sockets > 0 && sockets <= physicalCores && physicalCores <= cores, true)
  })
})
