import { cgroupsSuite } from './cgroups.ts'
import { installSuite } from './install.ts'
import { memorySuite } from './memory.ts'
import { startSuite } from './start.ts'
import type { VmSuite } from './support/vm-suite.ts'

/** In the order in which they run on one machine: those that switch it off come last. */
export const vmSuites: readonly VmSuite[] = [startSuite, cgroupsSuite, memorySuite, installSuite]
