import type { NodeCgroups } from '../../src/node/cgroups/create-cgroups.ts'
import type { PodUid } from '../../src/model/pod/pod.ts'
import { InMemoryPodCgroups } from '../../src/simulation/machine/in-memory-pod-cgroups.ts'

/** The cgroups of pods in memory, with a journal of what was done to them and faults that a test plans. */
export class FakePodCgroups extends InMemoryPodCgroups {
  /** How much work goes on while moves between cgroups are kept quick. */
  quickWork = 0
  /** How much went on while others waited, so that nothing was done for it. */
  crowdedWork = 0

  readonly moves: NodeCgroups['moves'] = {
    keepQuick: async (work, { othersWait }) => {
      if (othersWait) {
        this.crowdedWork += 1
        return await work()
      }
      this.quickWork += 1
      try {
        return await work()
      } finally {
        this.quickWork -= 1
      }
    },
  }

  readonly written: string[] = []
  readonly removed: PodUid[] = []
  /** Of each write. */
  failure: Error | undefined
  /** Of making them. */
  ensureFailure: Error | undefined

  protected override onWrite(values: object): void {
    if (this.failure !== undefined) throw this.failure
    const texts = Object.entries(values).map(([name, value]) => `${name}=${typeof value === 'bigint' ? value : ''}`)
    this.written.push(texts.join(' '))
  }

  protected override onRemove(uid: PodUid): void {
    this.removed.push(uid)
  }

  protected override onEnsure(): void {
    if (this.ensureFailure !== undefined) throw this.ensureFailure
  }
}
