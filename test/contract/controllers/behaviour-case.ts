import type { CaseWorld } from './case-world.ts'

/** Objects that are driven through steps in a namespace of their own; what controllers made of them counts wherever the case takes a snapshot. */
export interface BehaviourCase {
  /** Unlike those of all other cases. */
  readonly name: string
  /** It waits for time to pass: begun before the others. */
  readonly isSlow?: boolean
  readonly run: (world: CaseWorld) => Promise<void>
}

// Cases look at the fields that they know.
// oxlint-disable-next-line typescript/no-explicit-any
export type AnyObject = any

/** The snapshots of a case, by their labels. */
export type Outcome = Readonly<Record<string, unknown>>
