/** Runs the tables of checks on one machine and counts. */
import { NodeAgent } from '../../test/vm/support/node-agent.ts'
import { NotApplicable } from '../../test/vm/support/vm-suite.ts'
import type { VmCheck, VmSuite, VmWorld } from '../../test/vm/support/vm-suite.ts'
import { errorMessage } from '../../src/base/telemetry/error-text.ts'

export interface VmCounts {
  readonly passed: number
  readonly failed: number
  readonly notApplicable: number
}

type Say = (text: string) => void

export interface SuitesRequest extends Pick<VmWorld, 'machine' | 'powerCuts' | 'say'> {
  readonly suites: readonly VmSuite[]
  readonly signal: AbortSignal
}

type Outcome = keyof VmCounts

/** A failed check does not end its suite: the next ones say more about the fault. */
export async function runSuites({ suites, signal, ...parts }: SuitesRequest): Promise<VmCounts> {
  const { machine, say } = parts
  const world = { ...parts, agent: new NodeAgent(machine.guest) }
  await world.agent.install()
  const counts = { passed: 0, failed: 0, notApplicable: 0 }
  for (const suite of suites) {
    const startedAt = Date.now()
    const own = { passed: 0, failed: 0, notApplicable: 0 }
    say(`\n${suite.name}\n`)
    for (const check of suite.checks) {
      own[await runCheck(check, world, say)] += 1
      signal.throwIfAborted()
    }
    for (const key of ['passed', 'failed', 'notApplicable'] as const) counts[key] += own[key]
    say(`${own.failed === 0 ? 'ok' : 'FAILED'}  ${suite.name} (${describeCounts(own)}, ${seconds(startedAt)} s)\n`)
  }
  return counts
}

async function runCheck({ name, run }: VmCheck, world: VmWorld, say: Say): Promise<Outcome> {
  const startedAt = Date.now()
  try {
    await run(world)
    say(`  ok      ${name} (${seconds(startedAt)} s)\n`)
    return 'passed'
  } catch (error) {
    if (error instanceof NotApplicable) {
      say(`  n/a     ${name}: ${error.message}\n`)
      return 'notApplicable'
    }
    say(`  FAILED  ${name} (${seconds(startedAt)} s)\n${indent(errorMessage(error))}\n`)
    return 'failed'
  }
}

export function describeCounts({ passed, failed, notApplicable }: VmCounts): string {
  return `${passed} passed, ${failed} failed, ${notApplicable} not applicable`
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, '          ')
}

function seconds(startedAt: number): string {
  return ((Date.now() - startedAt) / 1000).toFixed(0)
}
