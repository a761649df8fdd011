import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import process from 'node:process'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { watchLoop } from './loop-holds.ts'

test('watchLoop() sees code that runs and calls that wait', async () => {
  let longest = 0
  using _ = watchLoop((heldMs) => (longest = Math.max(longest, heldMs)))
  await sleep(50)
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
  await sleep(50)
  assert.ok(longest >= 300, `a wait of 300 ms was seen as ${longest} ms`)
})

// Enough to be sure that it was the machine, little enough to see it soon.
const STARVED_MS = 200

test('watchLoop() leaves out the time in which the machine has no CPU for it', async () => {
  const program = `
    import { setPriority } from 'node:os'
    import { spawn } from 'node:child_process'
    import { watchLoop } from ${JSON.stringify(new URL('loop-holds.ts', import.meta.url).href)}
    const hogs = Array.from({ length: 4 }, () => spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }))
    const leave = (code) => {
      for (const hog of hogs) hog.kill('SIGKILL')
      process.exit(code)
    }
    setPriority(19)
    let last = performance.now()
    watchLoop((held) => {
      const late = performance.now() - last
      last = performance.now()
      // It may have waited for another thread of its own, which was starved too.
      if (late >= ${STARVED_MS} && held < late / 4) leave(0)
    })
    setTimeout(() => leave(1), 30_000)`
  const [cpu = '0'] = /(?<=^Cpus_allowed_list:\s*)\d+/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  // All on one CPU, and the others before this one.
  const child = spawn('taskset', ['-c', cpu, process.execPath, '--input-type=module', '-e', program], {
    stdio: 'inherit',
  })
  const [code] = await once(child, 'exit')
  assert.equal(code, 0, 'each time that it was late it says that it was held up')
})
