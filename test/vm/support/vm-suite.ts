import type { VirtualMachine } from '../../../tools/vm/virtual-machine.ts'
import type { NodeAgent } from './node-agent.ts'

/** What a check gets to work with. */
export interface VmWorld {
  readonly machine: VirtualMachine
  readonly agent: NodeAgent
  /** How often the machine loses its power. */
  readonly powerCuts: number
  /** Reports progress of a check that takes long. */
  readonly say: (text: string) => void
}

/** One line of a suite's table. */
export interface VmCheck {
  readonly name: string
  readonly run: (world: VmWorld) => Promise<void>
}

/** Checks that share a machine, in this order. */
export interface VmSuite {
  readonly name: string
  /** Where it is long or hard on the machine, it runs only when it is named. */
  readonly onlyByName?: boolean
  /** It installs the Debian packages of "npm run package". */
  readonly needsPackages?: boolean
  readonly checks: readonly VmCheck[]
}

/** Thrown by a check that says nothing about this machine. */
export class NotApplicable extends Error {
  override readonly name = 'NotApplicable'
}
