import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { systemClock } from '../../src/base/async/clock.ts'
import { openCgroupFiles } from '../../src/system/cgroups/cgroup-files.ts'
import { CgroupMoves, openIdleMove } from '../../src/system/cgroups/cgroup-moves.ts'
import { readMachine } from '../../src/system/machine/read-machine.ts'

test('this process moves itself to the cgroups where it is, and stays in all of them', async () => {
  const files = openCgroupFiles(readMachine().cgroupVersion)
  const before = readFileSync('/proc/self/cgroup', 'utf8')
  let opened = 0
  let failed: unknown
  const open = async () => {
    opened += 1
    return await openIdleMove(files).catch((error: unknown) => {
      failed = error
      throw error
    })
  }
  await new CgroupMoves({ open, clock: systemClock }).keepQuick(() => sleep(100), { othersWait: false })
  assert.deepEqual([opened, failed], [1, undefined])
  {
    await using own = await openIdleMove(files)
    await own.move()
  }
  assert.equal(readFileSync('/proc/self/cgroup', 'utf8'), before)
})
