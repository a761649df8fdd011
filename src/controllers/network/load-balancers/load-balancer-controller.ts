import { sameValue } from '../../../base/document/same-value.ts'
import type { ControllerDeps } from '../../engine/controller-deps.ts'
import { createController, createQueue } from '../../engine/controller.ts'
import type { Controller } from '../../engine/controller.ts'
import { createObjectEvents } from '../../engine/object-events.ts'
import { computeBalancers } from './compute-balancer-status.ts'

// What one service gets depends on all the others.
const ALL = '/all'

/** Gives services of type LoadBalancer the address of the node. */
export function createLoadBalancerController(deps: ControllerDeps, ingressPorts: readonly number[]): Controller {
  const { services, nodes } = deps
  const queue = createQueue('load-balancers', deps)
  services.known.onChange((after, before) => {
    if ([after, before].some((service) => service?.spec.type === 'LoadBalancer')) queue.add(ALL)
  })
  nodes.known.onChange((after, before) => {
    if (!sameValue(after?.status?.addresses, before?.status?.addresses)) queue.add(ALL)
  })
  const record = createObjectEvents(deps.record, 'service-controller', services.kind)
  return createController({
    name: 'load-balancers',
    queue,
    reads: [services, nodes],
    reconcile: async (_key, signal) => {
      const decisions = computeBalancers(services.known.all(), nodes.known.all()[0], ingressPorts)
      for (const service of services.known.all()) {
        const decision = decisions.get(service.metadata.uid)
        if (decision === undefined) continue
        const { ingress, problem } = decision
        if (problem !== undefined) record(service, 'Warning', 'SyncLoadBalancerFailed', problem)
        if (sameValue(service.status?.loadBalancer?.ingress ?? [], ingress)) continue
        const loadBalancer = ingress.length === 0 ? {} : { ingress }
        await services.updateStatus({ ...service, status: { ...service.status, loadBalancer } }, signal)
        if (problem === undefined) record(service, 'Normal', 'EnsuredLoadBalancer', 'Ensured load balancer')
      }
      return undefined
    },
  })
}
