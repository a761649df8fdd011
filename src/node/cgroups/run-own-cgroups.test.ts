import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { ShutdownError } from '../../base/async/abort-errors.ts'
import { runOwnCgroups } from './run-own-cgroups.ts'
import type { OwnCgroupsDeps } from './run-own-cgroups.ts'

function setUp(parts: Partial<OwnCgroupsDeps>) {
  const journal: string[] = []
  const warnings: string[] = []
  const clock = new FakeClock()
  const stop = new AbortController()
  const running = runOwnCgroups(
    {
      kubeletCgroup: '',
      systemCgroup: '',
      pid: 7,
      makeCgroup: (cgroup) => void journal.push(`make ${cgroup}`),
      addProcess: (cgroup, pid) => void journal.push(`move ${pid} ${cgroup}`),
      listPrograms: () => [],
      spareOwnProcess: () => void journal.push('spare'),
      clock,
      log: { ...silentLogger, warn: (message) => void warnings.push(message) },
      ...parts,
    },
    stop.signal,
  )
  const end = async () => {
    stop.abort(new ShutdownError())
    await assert.rejects(running, ShutdownError)
  }
  return { journal, warnings, clock, end }
}

describe('runOwnCgroups()', () => {
  test('moves the own process now and each minute', async () => {
    const { journal, clock, end } = setUp({ kubeletCgroup: '/kubelet' })
    assert.deepEqual(journal, ['make /kubelet', 'move 7 /kubelet'])
    await clock.advance(60_000)
    assert.deepEqual(journal.slice(2), ['spare', 'make /kubelet', 'move 7 /kubelet'])
    await end()
  })

  test('moves the programs of the system until none is left, the own process only where it belongs', async () => {
    const rounds = [[7, 20, 21], [22], []]
    const { journal, end } = setUp({
      kubeletCgroup: '/kubelet',
      systemCgroup: '/system',
      listPrograms: () => rounds.shift() ?? [],
    })
    assert.deepEqual(journal, [
      'make /system',
      'move 20 /system',
      'move 21 /system',
      'move 22 /system',
      'make /kubelet',
      'move 7 /kubelet',
    ])
    await end()
  })

  test('only asks for mercy again where nothing is to be moved', async () => {
    const { journal, clock, end } = setUp({})
    await clock.advance(299_999)
    assert.deepEqual(journal, [])
    await clock.advance(1)
    assert.deepEqual(journal, ['spare'])
    await end()
  })

  test('reports once what cannot be moved, and goes on with the others', async () => {
    const moved: number[] = []
    const { warnings, clock, end } = setUp({
      systemCgroup: '/system',
      listPrograms: () => [20, 21],
      addProcess: (_, pid) => {
        if (pid === 20) throw new Error('EINVAL')
        moved.push(pid)
      },
    })
    await clock.advance(60_000)
    assert.deepEqual(warnings, ['cannot move the programs of the system, will try again'])
    assert.ok(moved.includes(21))
    await end()
  })
})
