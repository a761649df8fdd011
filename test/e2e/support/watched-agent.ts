import { readFile } from 'node:fs/promises'
import type { AgentOptions } from '../lab/lab-agent.ts'

/** When an agent began to watch its event loop, and when it was held up since then, in ms since the epoch. */
interface LoopHolds {
  readonly began: number
  readonly holds: readonly { readonly at: number; readonly ms: number }[]
}

/** An agent that writes to a file when its event loop was held up. */
export function withLoopWatch(file: string, { environment, ...options }: AgentOptions, tickMs?: number): AgentOptions {
  const NODE_OPTIONS = `--import=${new URL('loop-watch.ts', import.meta.url).href}`
  const tick = tickMs === undefined ? {} : { LOOP_WATCH_TICK: String(tickMs) }
  return { ...options, environment: { ...environment, ...tick, LOOP_WATCH: file, NODE_OPTIONS } }
}

export async function readHolds(file: string): Promise<LoopHolds> {
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n')
  const [first, ...holds] = lines.map((line) => {
    const [at, ms] = line.split(' ')
    return { at: Number(at), ms: Number(ms) }
  })
  return { began: first?.at ?? Number.NaN, holds }
}
