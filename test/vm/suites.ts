import { apiPodsSuite } from './api-pods.ts'
import { cgroupsSuite } from './cgroups.ts'
import { installSuite } from './install.ts'
import { memorySuite } from './memory.ts'
import { numaSuite } from './numa.ts'
import { packagesSuite } from './packages.ts'
import { powerSuite } from './power.ts'
import { replaceSuite } from './replace.ts'
import { serviceSuite } from './service.ts'
import { shutdownSuite } from './shutdown.ts'
import { sourcesSuite } from './sources.ts'
import { startSuite } from './start.ts'
import type { VmSuite } from './support/vm-suite.ts'
import { volumesSuite } from './volumes.ts'
import { workloadsSuite } from './workloads.ts'

/** In the order in which they run on one machine: those that switch it off come last. */
export const vmSuites: readonly VmSuite[] = [
  startSuite,
  cgroupsSuite,
  memorySuite,
  volumesSuite,
  numaSuite,
  serviceSuite,
  apiPodsSuite,
  sourcesSuite,
  packagesSuite,
  replaceSuite,
  shutdownSuite,
  installSuite,
  workloadsSuite,
  powerSuite,
]
