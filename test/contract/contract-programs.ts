import type { SimulatedProgram } from '../../src/simulation/runtime/simulated-runtime.ts'

/** What the containers of the contract run, as a command for a real runtime and in the words of the fake. */
export interface ContractProgram {
  readonly command: readonly string[]
  readonly fake: SimulatedProgram
}

/** What a program says once it answers to signals in its own way. */
const READY = 'ready'

/** The programs by what they do. */
export const programs = {
  waitsForTerm: {
    command: ['sh', '-c', `trap "exit 3" TERM; echo ${READY}; while :; do sleep 0.05; done`],
    fake: { onTerm: 3, prints: READY },
  },
  ignoresTerm: {
    command: ['sh', '-c', `trap "" TERM; echo ${READY}; while :; do sleep 1; done`],
    fake: { onTerm: 'ignore', prints: READY },
  },
  fails: { command: ['sh', '-c', 'exit 7'], fake: { exitsAfterMs: 0, exitCode: 7 } },
  succeeds: { command: ['true'], fake: { exitsAfterMs: 0, exitCode: 0 } },
  cannotStart: { command: ['/no/such/program'], fake: { startError: 'exec: "/no/such/program": no such file' } },
} as const satisfies Readonly<Record<string, ContractProgram>>

/** The fake's side of a command. */
export function fakeProgramOf(command: readonly string[]): SimulatedProgram {
  const known = Object.values(programs).find((program) => program.command.join(' ') === command.join(' '))
  return known?.fake ?? {}
}
