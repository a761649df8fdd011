import type { Clock } from '../async/clock.ts'

/** What the commands of a standalone node get from outside. */
export interface NodeDeps {
  readonly clock: Clock
  /** A line for the user. */
  say(line: string): void
  /** Path of our own agent. */
  readonly ownKubelet: string
  readonly pid: number
  /** PATH: where programs are looked for. */
  readonly programPath: string
  readonly userId: number | undefined
}
