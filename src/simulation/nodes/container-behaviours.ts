import type { Clock } from '../../base/async/clock.ts'
import { ContainerState } from '../../protocols/cri/generated/runtime-v1.ts'
import type { ContainerConfig, PodSandboxConfig } from '../../protocols/cri/generated/runtime-v1.ts'
import { computeBehaviour, pickTime } from '../options/compute-behaviour.ts'
import type { Behaviour, SimulationRule } from '../options/simulation-options.ts'
import type { RuntimeUsage } from '../runtime/runtime-handlers.ts'
import type { SimulatedContainer, SimulatedProgram, SimulatedRuntime } from '../runtime/simulated-runtime.ts'

interface BehavioursDeps {
  readonly rules: readonly SimulationRule[]
  readonly usual: Behaviour
  readonly clock: Clock
  readonly random: () => number
}

interface Chosen {
  readonly program: SimulatedProgram
  readonly behaviour: Behaviour
  readonly readyAfterMs: number
}

const IDLE: RuntimeUsage = { cpuNanoseconds: 0n, workingSetBytes: 0n }
const NANOS_PER_MS = 1_000_000n

/** What the containers of one node do. Each is decided once: it starts, runs and ends as one program. */
export class ContainerBehaviours {
  readonly #deps: BehavioursDeps
  readonly #chosen = new WeakMap<ContainerConfig, Chosen>()

  constructor(deps: BehavioursDeps) {
    this.#deps = deps
  }

  programOf(config: ContainerConfig, sandbox: PodSandboxConfig): SimulatedProgram {
    return this.#of(config, sandbox).program
  }

  /** By the name of the image alone: several containers may wait for it. */
  pullMs(image: string): number {
    const { rules, usual, random } = this.#deps
    const container = { image, namespace: '', pod: '', uid: '', container: '', labels: {} }
    return pickTime(computeBehaviour(rules, usual, container).pullTime, random())
  }

  /** What a container has used until now; nothing unless it runs. */
  usageOf(container: SimulatedContainer): RuntimeUsage {
    const chosen = this.#chosen.get(container.config)
    if (chosen === undefined || container.state !== ContainerState.CONTAINER_RUNNING) return IDLE
    const { cpuCores, memoryBytes } = chosen.behaviour
    return {
      cpuNanoseconds: BigInt(Math.round(this.#ranMs(container) * 1e6 * cpuCores)),
      workingSetBytes: BigInt(Math.round(memoryBytes)),
    }
  }

  /** Probes of it succeed. */
  isReady(container: SimulatedContainer): boolean {
    const { readyAfterMs = 0 } = this.#chosen.get(container.config) ?? {}
    return container.state === ContainerState.CONTAINER_RUNNING && this.#ranMs(container) >= readyAfterMs
  }

  /** Something answers at this address: a pod all of whose running containers are ready, or the node itself. */
  isAnswering(runtime: SimulatedRuntime, address: string, nodeAddress: string): boolean {
    if (address === nodeAddress) return true
    const sandbox = runtime.sandboxes.values().find(({ ip }) => ip === address)
    if (sandbox === undefined) return false
    return runtime.containers
      .values()
      .filter(({ sandboxId, state }) => sandboxId === sandbox.id && state === ContainerState.CONTAINER_RUNNING)
      .every((container) => this.isReady(container))
  }

  #ranMs({ startedAt }: SimulatedContainer): number {
    return this.#deps.clock.now() - Number(startedAt / NANOS_PER_MS)
  }

  #of(config: ContainerConfig, sandbox: PodSandboxConfig): Chosen {
    const known = this.#chosen.get(config)
    if (known !== undefined) return known
    const chosen = this.#choose(config, sandbox)
    this.#chosen.set(config, chosen)
    return chosen
  }

  #choose(config: ContainerConfig, { metadata, labels }: PodSandboxConfig): Chosen {
    const { rules, usual, random } = this.#deps
    const behaviour = computeBehaviour(rules, usual, {
      namespace: metadata?.namespace ?? '',
      pod: metadata?.name ?? '',
      uid: metadata?.uid ?? '',
      container: config.metadata?.name ?? '',
      image: config.image?.userSpecifiedImage || (config.image?.image ?? ''),
      labels,
    })
    const { startTime, startFailure, exitsAfter, exitCode, readyAfter, ignoresTerm } = behaviour
    return {
      behaviour,
      readyAfterMs: pickTime(readyAfter, random()),
      program: {
        startsAfterMs: pickTime(startTime, random()),
        ...(startFailure !== undefined && { startError: startFailure }),
        ...(exitsAfter !== undefined && { exitsAfterMs: pickTime(exitsAfter, random()), exitCode }),
        ...(ignoresTerm && { onTerm: 'ignore' as const }),
      },
    }
  }
}
