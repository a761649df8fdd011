import { BackOff } from '../../base/async/back-off.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { Wakeup } from '../../base/async/wakeup.ts'
import type { Controller } from '../engine/controller.ts'
import type { ControllerDeps } from '../engine/controller-deps.ts'
import { computeNftState } from './compute-nft-state.ts'
import type { ProxyNetwork } from './compute-nft-state.ts'
import { computeNftAdoption, computeNftReplacement, computeNftUpdate } from './compute-nft-update.ts'
import type { KnownNames } from './compute-nft-update.ts'
import { computeProxiedPorts } from './compute-proxied-ports.ts'
import { computeStaleFlows } from './compute-stale-flows.ts'
import type { UdpFlow } from './compute-stale-flows.ts'
import type { NftState } from './nft-state.ts'
import type { ProxiedPort } from './proxied-port.ts'

/** The kernel's rules, as the proxy uses them. */
interface ProxyRules {
  apply(text: string, signal: AbortSignal): Promise<void>
  namesIn(table: string, signal: AbortSignal): Promise<KnownNames | undefined>
  rulesOf(table: string, chain: string, signal: AbortSignal): Promise<string>
  watchDeletions(onLine: (line: string) => void, signal: AbortSignal): Promise<void>
}

/** The kernel's memory of conversations. */
interface ProxyFlows {
  listUdp(signal: AbortSignal): Promise<readonly UdpFlow[]>
  forget(flow: UdpFlow, signal: AbortSignal): Promise<void>
}

export interface ServiceProxyOptions {
  readonly table: string
  readonly nodeName: string
  readonly network: ProxyNetwork
  readonly rules: ProxyRules
  readonly flows: ProxyFlows
}

type Followed<T extends 'services' | 'slices'> = Pick<ControllerDeps[T], 'known' | 'untilSynced'>

interface ProxyDeps extends Pick<ControllerDeps, 'clock' | 'log'> {
  readonly services: Followed<'services'>
  readonly slices: Followed<'slices'>
}

// Changes that come together are written together.
const GATHER_MS = 30
// Older kernels count references of what was removed a moment longer.
const UNUSED_MS = 2000
const RETRY = { firstMs: 100, longestMs: 30_000 }
// Any base chain would do: no change of services touches it.
const WATCHED_CHAIN = 'nat-pre'
const DISPATCH = { chain: 'services', mark: '@svc4' }

/** Keeps the rules that send connections for services to their pods. They stay when the process ends: connections go on without it. */
export function createServiceProxy(deps: ProxyDeps, options: ServiceProxyOptions): Controller {
  const proxy = new ServiceProxy(deps, options)
  return { name: 'service-proxy', run: (signal) => proxy.run(signal) }
}

class ServiceProxy {
  readonly #deps: ProxyDeps
  readonly #options: ServiceProxyOptions
  readonly #wakeup = new Wakeup()
  /** What the kernel has; undefined while that is not known. */
  #written: NftState | undefined
  #mayAdopt = true
  #isFlushed = false
  #unused: readonly string[] = []
  #udp = ''

  constructor(deps: ProxyDeps, options: ServiceProxyOptions) {
    this.#deps = deps
    this.#options = options
    for (const { known } of [deps.services, deps.slices]) known.onChange(() => this.#wakeup.wake())
  }

  async run(signal: AbortSignal): Promise<never> {
    const { clock, services, slices, log } = this.#deps
    // Half of what there is would take away what works.
    for (const objects of [services, slices]) await objects.untilSynced(signal)
    this.#written = undefined
    await using group = new TaskGroup(signal)
    group.run('watch for flushes', (s) => this.#watch(s))
    const backOff = new BackOff(RETRY)
    for (;;) {
      let pauseMs: number | undefined = this.#unused.length > 0 ? UNUSED_MS : undefined
      try {
        await this.#sync(signal)
        backOff.reset()
        pauseMs = this.#unused.length > 0 ? UNUSED_MS : undefined
      } catch (error) {
        signal.throwIfAborted()
        pauseMs = backOff.next()
        log.warn('cannot write the rules of services, will try again', { error, pauseMs })
      }
      await this.#wakeup.wait({ clock, ms: pauseMs }, signal)
      await clock.sleep(GATHER_MS, signal)
    }
  }

  async #sync(signal: AbortSignal): Promise<void> {
    const { services, slices } = this.#deps
    const { nodeName, network } = this.#options
    if (this.#isFlushed) await this.#checkFlush(signal)
    const ports = computeProxiedPorts({ services: services.known.all(), slices: slices.known.all(), nodeName })
    await this.#write(computeNftState(ports, network), signal)
    await this.#forgetFlows(ports, signal)
  }

  async #write(after: NftState, signal: AbortSignal): Promise<void> {
    const { table, rules } = this.#options
    const before = this.#written
    // What fails half way leaves nothing that could be relied on.
    this.#written = undefined
    if (before === undefined) await this.#writeAll(after, signal)
    else {
      const { text, unused } = computeNftUpdate(table, before, after)
      const left = this.#unused.filter((name) => !after.chains.has(name))
      const isIdle = text === ''
      const deletions = isIdle ? left.map((name) => `delete chain inet ${table} ${name}\n`).join('') : ''
      try {
        if (text + deletions !== '') await rules.apply(text + deletions, signal)
      } catch (error) {
        signal.throwIfAborted()
        this.#deps.log.info('a change of the rules of services failed, all of them are written', { error })
        await this.#writeAll(after, signal)
        this.#written = after
        return
      }
      this.#unused = isIdle ? [] : [...left, ...unused]
    }
    this.#written = after
  }

  async #writeAll(after: NftState, signal: AbortSignal): Promise<void> {
    const { table, rules } = this.#options
    this.#unused = []
    const known = this.#mayAdopt ? await rules.namesIn(table, signal) : undefined
    this.#mayAdopt = false
    if (known !== undefined) {
      const { text, unused } = computeNftAdoption(table, known, after)
      try {
        await rules.apply(text, signal)
        this.#unused = unused
        return
      } catch (error) {
        signal.throwIfAborted()
        this.#deps.log.info('rules of an earlier version are replaced', { error })
      }
    }
    await rules.apply(computeNftReplacement(table, after), signal)
  }

  async #checkFlush(signal: AbortSignal): Promise<void> {
    const { table, rules } = this.#options
    this.#isFlushed = false
    if ((await rules.rulesOf(table, DISPATCH.chain, signal)).includes(DISPATCH.mark)) return
    this.#deps.log.warn('the rules of services were removed by another program, writing them again', { table })
    this.#written = undefined
  }

  /** Our own changes never touch the base chains once they are there; a flush removes their rules. */
  async #watch(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps
    const { table, rules } = this.#options
    const backOff = new BackOff(RETRY)
    const sign = `delete rule inet ${table} ${WATCHED_CHAIN} `
    for (;;) {
      try {
        await rules.watchDeletions((line) => {
          if (!line.startsWith(sign)) return
          this.#isFlushed = true
          this.#wakeup.wake()
        }, signal)
      } catch (error) {
        signal.throwIfAborted()
        const pauseMs = backOff.next()
        log.warn('cannot watch the rules of services, will try again', { error, pauseMs })
        await clock.sleep(pauseMs, signal)
        // What happened meanwhile was not seen.
        this.#isFlushed = true
        this.#wakeup.wake()
      }
    }
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
