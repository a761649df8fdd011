/** Loaded into an agent by "node --import": writes down when its event loop was held up. The agent knows nothing of it. */
import { appendFileSync } from 'node:fs'
import process from 'node:process'
import { watchLoop } from '../../kernel/loop-holds.ts'

// Shorter ones are of no interest, and writing them down would be work.
const SHORTEST_HOLD_MS = 50

// What the agent starts must not be loaded with this too.
delete process.env['NODE_OPTIONS']
const file = process.env['LOOP_WATCH'] ?? ''
// A benchmark asks for more: shorter ones, and a timer with a period that hides none of them.
const tickMs = process.env['LOOP_WATCH_TICK'] === undefined ? undefined : Number(process.env['LOOP_WATCH_TICK'])
const shortestMs = tickMs === undefined ? SHORTEST_HOLD_MS : 2 * tickMs
const write = (heldMs: number) => appendFileSync(file, `${Date.now()} ${heldMs.toFixed(1)}\n`)
write(0)
watchLoop((heldMs) => {
  if (heldMs >= shortestMs) write(heldMs)
}, tickMs)
