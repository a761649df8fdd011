import type { Lookup } from '../../pods/containers/environment/environment-sources.ts'
import type { Service } from '../../model/generated/core-v1.ts'
import type { DynamicResourcesApi } from '../../pods/objects/dynamic-resources-api.ts'
import type { ObjectApi } from '../../pods/objects/object-api.ts'
import type { RuntimeClasses } from '../../pods/sync/start/runtime-classes.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { createLoggedNodeEvents } from '../../model/events/node-events.ts'
import type { NodeEvents } from '../../model/events/node-events.ts'
import type { Projections } from '../../pods/volumes/payload/create-projections.ts'
import { createLoggedPodEvents } from '../../model/events/pod-events.ts'
import type { PodEvents } from '../../model/events/pod-events.ts'

/** What the pods of a node get from the cluster that it belongs to. A node without a cluster has the same, without an API behind it. */
export interface Membership {
  /** Where objects that pods refer to are read; undefined without an API. */
  readonly objects: ObjectApi | undefined
  /** Where claims of devices are read; undefined without an API. */
  readonly dynamicResources: DynamicResourcesApi | undefined
  /** Sources of projected volumes that only a cluster has; undefined where their feature gates are off. */
  readonly projections?: Projections | undefined
  readonly podEvents: PodEvents
  readonly nodeEvents: NodeEvents
  readonly runtimeClasses: RuntimeClasses
  /** Of all namespaces. */
  readonly services: () => Lookup<readonly Service[]>
  /** Resolves when the services were read at least once. */
  readonly servicesRead: (signal: AbortSignal) => Promise<void>
  /** What the node's annotation node.alpha.kubernetes.io/ttl says. */
  readonly nodeTtlMs: () => number | undefined
}

/** Runtime classes are objects of an API: without one their names have no meaning. */
export const noRuntimeClasses: RuntimeClasses = {
  find: () => ({ kind: 'unavailable', why: 'this node has no API server' }),
}

/** The membership of a node without a cluster: what would be reported to an API is logged. */
export function createLoneMembership(deps: {
  readonly objects: ObjectApi | undefined
  readonly nodeName: string
  readonly log: Logger
}): Membership {
  const { objects, nodeName, log } = deps
  return {
    objects,
    dynamicResources: undefined,
    podEvents: createLoggedPodEvents(log),
    nodeEvents: createLoggedNodeEvents(log, nodeName),
    runtimeClasses: noRuntimeClasses,
    services: () => ({ kind: 'found', value: [] }),
    servicesRead: () => Promise.resolve(),
    nodeTtlMs: () => undefined,
  }
}
