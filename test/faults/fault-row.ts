/** What must hold whatever breaks. The texts are those of docs/faults.md. */
export const INVARIANTS = {
  once: 'no container is started twice',
  regular: 'a regular container that nothing kills is started once',
  kept: 'none is lost',
  steady: 'no pod restarts that did not change',
  lives: 'the agent lives',
  status: 'status is right at the end',
  handles: 'no handle leaks',
  clean: 'nothing is left behind',
} as const

export type Invariant = keyof typeof INVARIANTS

/** What a row may be asked to do. */
export interface FaultOptions {
  /** How long churn goes on. */
  readonly churnMinutes: number
  /** One line of progress. */
  readonly say: (text: string) => void
}

interface FaultText {
  /** What the row is called on the command line; of small letters and dashes. */
  readonly name: string
  /** What breaks. */
  readonly fault: string
  /** How it is broken. */
  readonly injection: string
  readonly invariants: readonly Invariant[]
}

/** A fault that is made on the ground of its group. */
export interface MadeFault<Ground> extends FaultText {
  /** Whether it is a part of "npm test" too. */
  readonly quick: boolean
  /** Breaks, heals and checks; fails when an invariant does not hold. Leaves the ground as it was. */
  readonly run: (ground: Ground, options: FaultOptions) => Promise<void>
}

/** A fault that tests of the usual suite make: those are run. */
export interface TestedFault extends FaultText {
  readonly files: readonly string[]
}

/** Faults that share what they are made on, such as a node. */
export interface FaultGroup<Ground extends AsyncDisposable = AsyncDisposable> {
  readonly name: string
  readonly open: () => Promise<Ground>
  readonly rows: readonly MadeFault<Ground>[]
}

/** Hides what the ground of a group is, which only its own rows know. */
export function faultGroup<Ground extends AsyncDisposable>(group: FaultGroup<Ground>): FaultGroup {
  return group as unknown as FaultGroup
}
