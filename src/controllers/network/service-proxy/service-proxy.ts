import { TaskGroup } from '../../../base/async/task-group.ts'
import type { Controller } from '../../engine/controller.ts'
import type { ControllerDeps } from '../../engine/controller-deps.ts'
import { computeHealthChecks } from './compute-health-checks.ts'
import type { ProxyNetwork } from './compute-nft-state.ts'
import { computeProxiedPorts } from './compute-proxied-ports.ts'
import { computeStaleFlows } from './compute-stale-flows.ts'
import type { UdpFlow } from './compute-stale-flows.ts'
import { HealthCheckServers } from './health-check-servers.ts'
import type { ProxiedPort } from './proxied-port.ts'
import { createServiceRules } from './create-service-rules.ts'
import type { RulesPlace } from './create-service-rules.ts'

/** The kernel's memory of conversations. */
interface ProxyFlows {
  listUdp(signal: AbortSignal): Promise<readonly UdpFlow[]>
  forget(flow: UdpFlow, signal: AbortSignal): Promise<void>
}

export interface ServiceProxyOptions {
  readonly nodeName: string
  readonly network: ProxyNetwork
  readonly place: RulesPlace
  /** Has packets between two pods of the bridge pass through the rules, where the kernel can; returns whether that had to be set again. */
  readonly ensureBridgeIsSeen: () => boolean
  readonly flows: ProxyFlows
}

type Followed<T extends 'services' | 'slices'> = Pick<ControllerDeps[T], 'known' | 'untilSynced'>

interface ProxyDeps extends Pick<ControllerDeps, 'clock' | 'log'> {
  readonly services: Followed<'services'>
  readonly slices: Followed<'slices'>
}

const BRIDGE_CHECK_MS = 10_000

/** Keeps the rules that send connections for services to their pods. They stay when the process ends: connections go on without it. */
export function createServiceProxy(deps: ProxyDeps, options: ServiceProxyOptions): Controller {
  const proxy = new ServiceProxy(deps, options)
  return { name: 'service-proxy', run: (signal) => proxy.run(signal) }
}

class ServiceProxy {
  readonly #deps: ProxyDeps
  readonly #options: ServiceProxyOptions
  readonly #rules: ReturnType<typeof createServiceRules>
  #udp = ''

  constructor(deps: ProxyDeps, options: ServiceProxyOptions) {
    this.#deps = deps
    this.#options = options
    this.#rules = createServiceRules(options.place, options.network, deps)
    for (const { known } of [deps.services, deps.slices]) known.onChange(() => this.#rules.wake())
  }

  async run(signal: AbortSignal): Promise<never> {
    const { services, slices } = this.#deps
    // Half of what there is would take away what works.
    for (const objects of [services, slices]) await objects.untilSynced(signal)
    const healthChecks = new HealthCheckServers(this.#deps.log)
    await using group = new TaskGroup(signal)
    group.run('bridge', (s) => this.#keepBridgeSeen(s))
    try {
      return await this.#rules.run((s) => this.#sync(healthChecks, s), signal)
    } finally {
      healthChecks.close()
    }
  }

  /** No event says that a setting of the kernel has changed. Without it answers between two pods are not translated back. */
  async #keepBridgeSeen(signal: AbortSignal): Promise<never> {
    const { clock, log } = this.#deps
    const { network, ensureBridgeIsSeen } = this.#options
    for (;;) {
      await clock.sleep(BRIDGE_CHECK_MS, signal)
      if (network.seesBridge && ensureBridgeIsSeen())
        log.warn('packets between pods were not seen by the rules of services, they are again')
    }
  }

  async #sync(healthChecks: HealthCheckServers, signal: AbortSignal): Promise<void> {
    const { services, slices } = this.#deps
    const { nodeName } = this.#options
    const input = { services: services.known.all(), slices: slices.known.all(), nodeName }
    healthChecks.serve(computeHealthChecks(input))
    const ports = computeProxiedPorts(input)
    await this.#rules.write(ports, signal)
    await this.#forgetFlows(ports, signal)
  }

  async #forgetFlows(ports: readonly ProxiedPort[], signal: AbortSignal): Promise<void> {
    const udp = ports.filter(({ protocol, isAtHome }) => protocol === 'udp' && !isAtHome)
    const text = JSON.stringify(udp)
    if (text === this.#udp) return
    this.#udp = text
    const { flows } = this.#options
    try {
      for (const flow of computeStaleFlows(await flows.listUdp(signal), udp)) await flows.forget(flow, signal)
    } catch (error) {
      signal.throwIfAborted()
      const advice = 'clients over UDP may stay with pods that are gone; is conntrack installed?'
      this.#deps.log.warn(`cannot read conversations: ${advice}`, { error })
    }
  }
}
