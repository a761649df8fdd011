import type { Clock } from '../../base/async/clock.ts'
import type { Logger } from '../../base/telemetry/logger.ts'

export interface OwnCgroupsDeps {
  /** Where this process belongs; '' for wherever it is. */
  readonly kubeletCgroup: string
  /** Where the programs belong that are in no cgroup; '' for wherever they are. */
  readonly systemCgroup: string
  readonly pid: number
  /** Makes it where there is none. */
  readonly makeCgroup: (cgroup: string) => void
  readonly addProcess: (cgroup: string, pid: number) => void
  /** Programs that are in no cgroup. */
  readonly listPrograms: () => readonly number[]
  /** Asks the kernel to spare this process when memory runs out; returns what went wrong. */
  readonly spareOwnProcess: () => string | undefined
  readonly clock: Clock
  readonly log: Logger
}

const PERIOD_MS = 60_000
const SPARE_PERIOD_MS = 300_000
// A program that starts another one during a pass leaves the new one behind.
const ROUNDS = 10

/** Moves this process, and the programs of the system, to the cgroups that the configuration names, and keeps them there. */
export async function runOwnCgroups(deps: OwnCgroupsDeps, signal: AbortSignal): Promise<void> {
  const { kubeletCgroup, systemCgroup, clock } = deps
  const moves = kubeletCgroup !== '' || systemCgroup !== ''
  const reported = new Set<string>()
  for (;;) {
    if (systemCgroup !== '') tryTo(deps, reported, 'cannot move the programs of the system', () => moveSystem(deps))
    if (kubeletCgroup !== '') tryTo(deps, reported, 'cannot move the own process', () => moveOwn(deps))
    await clock.sleep(moves ? PERIOD_MS : SPARE_PERIOD_MS, signal)
    // A failure of this was already reported at the start.
    deps.spareOwnProcess()
  }
}

function moveOwn({ kubeletCgroup, pid, makeCgroup, addProcess }: OwnCgroupsDeps): void {
  makeCgroup(kubeletCgroup)
  addProcess(kubeletCgroup, pid)
}

/** The agent is a program too, and has a cgroup of its own, or goes with the others. */
function moveSystem({ systemCgroup, kubeletCgroup, pid, ...deps }: OwnCgroupsDeps): void {
  deps.makeCgroup(systemCgroup)
  let failure: unknown
  for (let round = 0; round < ROUNDS; round += 1) {
    failure = undefined
    const programs = deps.listPrograms().filter((program) => kubeletCgroup === '' || program !== pid)
    if (programs.length === 0) return
    for (const program of programs) {
      try {
        deps.addProcess(systemCgroup, program)
      } catch (error) {
        failure = error
      }
    }
  }
  if (failure !== undefined) throw failure
}

/** A failure is reported once, and tried again. */
function tryTo({ log }: OwnCgroupsDeps, reported: Set<string>, what: string, work: () => void): void {
  try {
    work()
    reported.delete(what)
  } catch (error) {
    if (!reported.has(what)) log.warn(`${what}, will try again`, { error })
    reported.add(what)
  }
}
