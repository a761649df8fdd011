import type { PodAllocations } from '../pods/allocations/pod-allocations.ts'
import type { PodRegistry } from '../pods/sync/pod-registry.ts'
import type { Base } from './open-base.ts'
import type { Devices } from './open-devices.ts'
import type { OpenedNode } from './open-node.ts'
import type { Pods } from './open-pods.ts'
import type { Runtime } from './open-runtime.ts'
import type { Serving } from './open-serving.ts'
import type { Sources } from './open-sources.ts'

/** What the agent is built of, in the order in which it is built. A stage takes those before it, or the ones of them that it needs. */
export interface Stages {
  readonly base: Base
  readonly runtime: Runtime
  readonly registry: PodRegistry
  readonly allocations: PodAllocations
  readonly devices: Devices
  readonly node: OpenedNode
  readonly pods: Pods
  readonly sources: Sources
  readonly serving: Serving
}
