import type { PlacementHints } from '../placement/hint-provider.ts'
import { formatMemoryStateFile } from './memory-state-file.ts'
import type { MemoryBlock } from './memory-state.ts'
import type { PodMemory } from './pod-memory.ts'

/** How the file of this policy reads. */
export const UNPLACED_STATE = formatMemoryStateFile({
  policyName: 'None',
  machine: new Map(),
  assignments: new Map(),
  podLevel: false,
})

/** The policy "None": every container may use the memory of every node. */
export class UnplacedMemory implements PodMemory {
  hints(): PlacementHints {
    return new Map()
  }

  podHints(): PlacementHints {
    return new Map()
  }

  allocate(): undefined {}

  release(): void {}

  adopt(): void {}

  async adoptRunning(): Promise<void> {}

  sourcesReady(): void {}

  wake(): void {}

  async prepare(): Promise<string> {
    return ''
  }

  blocksOf(): readonly MemoryBlock[] {
    return []
  }

  allocatable(): readonly MemoryBlock[] {
    return []
  }

  async run(): Promise<void> {}
}
