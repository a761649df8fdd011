import { Wakeup } from '../../base/async/wakeup.ts'
import type { CpuSet } from '../../model/resources/cpu-set.ts'
import type { CpuPoolStats } from '../../metrics/placement-metrics.ts'
import type { PlacementHints } from '../placement/hint-provider.ts'
import { formatCpuStateFile } from './cpu-state-file.ts'
import { CpusetKeeper } from './cpuset-keeper.ts'
import type { CpusetKeeperDeps } from './cpuset-keeper.ts'
import type { PodCpus } from './pod-cpus.ts'

export interface SharedCpusDeps extends CpusetKeeperDeps {
  /** The file of an earlier agent says that it gave containers CPUs for themselves; these are all CPUs they should have again. */
  readonly giveBack: CpuSet | undefined
  readonly write: (text: string) => Promise<void>
  readonly periodMs: number
}

/** How the file of this policy reads. */
export const SHARED_STATE = formatCpuStateFile({
  policyName: 'none',
  shared: new Set(),
  assignments: new Map(),
  podLevel: false,
})

const NO_STATS: CpuPoolStats = { free: 0, exclusive: 0, exclusiveByNode: new Map() }

/** The policy "none": every container may run on every CPU. What an agent with another policy took from containers they get back. */
export class SharedCpus implements PodCpus {
  readonly #deps: SharedCpusDeps
  readonly #wakeup = new Wakeup()
  #sourcesReady = false

  constructor(deps: SharedCpusDeps) {
    this.#deps = deps
  }

  hints(): PlacementHints {
    return new Map()
  }

  podHints(): PlacementHints {
    return new Map()
  }

  allocate(): undefined {}

  adopt(): void {}

  async adoptRunning(): Promise<void> {}

  sourcesReady(): void {
    this.#sourcesReady = true
    this.#wakeup.wake()
  }

  release(): void {}

  wake(): void {}

  cpusOf(): string {
    return ''
  }

  async prepare(): Promise<undefined> {}

  hasExclusive(): boolean {
    return false
  }

  exclusiveOf(): readonly number[] {
    return []
  }

  allocatable(): readonly number[] {
    return []
  }

  stats(): CpuPoolStats {
    return NO_STATS
  }

  /** Ends when every container has all CPUs; the file says so only then, so that an agent that dies meanwhile is followed by one that goes on. */
  async run(signal: AbortSignal): Promise<void> {
    const { giveBack, clock, periodMs, write, log } = this.#deps
    if (giveBack === undefined) return
    const keeper = new CpusetKeeper(this.#deps)
    const wanted = { assignments: new Map(), pool: giveBack }
    // Their quotas are in their specs.
    while (!this.#sourcesReady || !(await keeper.keep(wanted, signal)))
      await this.#wakeup.wait({ clock, ms: periodMs }, signal)
    await write(SHARED_STATE)
    log.info('containers run on all CPUs again')
  }
}
