import type { Clock } from '../../base/async/clock.ts'
import { criServices } from '../../protocols/cri/cri-methods.ts'
import type { CriMethod } from '../../protocols/cri/cri-methods.ts'
import type { ContainerConfig, PodSandboxConfig } from '../../protocols/cri/generated/runtime-v1.ts'
import { FaultScript } from './fault-script.ts'
import { createRuntimeHandlers, NEWER_METHODS } from './runtime-handlers.ts'
import type { ExecResult, RuntimeDelays, RuntimeHandlers, RuntimeState } from './runtime-handlers.ts'
import type { RuntimeLogs } from './runtime-logs.ts'
import { SimulatedEvents } from './simulated-events.ts'
import { SimulatedFault } from './simulated-fault.ts'
import { SimulatedImages } from './simulated-images.ts'
import { SimulatedRuntime } from './simulated-runtime.ts'
import type { SimulatedContainer, SimulatedProgram } from './simulated-runtime.ts'

export interface SimulatedCriOptions {
  readonly clock: Clock
  /** Images that are there from the start. */
  readonly images?: readonly string[]
  /** What the process of a container does; by default it runs until it is stopped. */
  readonly programOf?: (config: ContainerConfig, sandbox: PodSandboxConfig) => SimulatedProgram
  readonly delays?: RuntimeDelays
  /** What containers use; nothing by default. */
  readonly usageOf?: RuntimeState['usageOf']
  readonly onExec?: (container: SimulatedContainer, cmd: readonly string[]) => ExecResult
  /** Where containers print; without, what they print is lost. */
  readonly logs?: RuntimeLogs | undefined
  /** Has the calls that containerd 1.6 lacks. */
  readonly newer?: boolean
  /** The name and version that it reports; an unknown runtime by default. */
  readonly version?: RuntimeState['version']
  /** Ways of running pods besides the usual one, or with it (named ''), and what it says of them; containerd 1.6 says nothing. */
  readonly handlers?: RuntimeState['handlers']
  readonly supplementalGroupsPolicy?: boolean
  /** The address of the next pod, after so many others. */
  readonly newAddress?: (others: number) => string
}

type AnyHandler = (request: object, signal: AbortSignal) => object | Promise<object>

const METHODS = { ...criServices.runtime.methods, ...criServices.image.methods }

/** A CRI runtime in memory, without processes. It follows containerd 1.6; test/contract holds it to that. */
export class SimulatedCri implements Disposable {
  readonly runtime: SimulatedRuntime
  readonly images = new SimulatedImages()
  readonly events = new SimulatedEvents()
  readonly script: FaultScript
  readonly state: RuntimeState
  readonly #ended = new AbortController()
  readonly #handlers: RuntimeHandlers
  readonly #isNewer: boolean

  constructor(options: SimulatedCriOptions) {
    const { clock, images = [], programOf = () => ({}), onExec = () => ({}), logs } = options
    const { events } = this
    const { signal } = this.#ended
    this.#isNewer = options.newer === true
    for (const image of images) this.images.add(image)
    const newAddress = options.newAddress ?? ((others) => `10.88.0.${2 + others}`)
    this.runtime = new SimulatedRuntime({ clock, events, images: this.images, programOf, logs, signal, newAddress })
    this.script = new FaultScript(clock)
    this.state = {
      clock,
      runtime: this.runtime,
      images: this.images,
      events,
      onExec,
      logs,
      usageOf: options.usageOf ?? (() => undefined),
      delays: options.delays ?? {},
      version: options.version ?? { name: 'fake', version: '1.0.0' },
      handlers: options.handlers ?? {},
      supplementalGroupsPolicy: options.supplementalGroupsPolicy ?? false,
      runtimeReady: true,
      networkReady: true,
    }
    this.#handlers = createRuntimeHandlers(this.state)
  }

  /** What a call is answered with; fails with a SimulatedFault. */
  async answer(method: CriMethod, request: object, signal: AbortSignal): Promise<object> {
    await this.script.before(method, signal)
    const { responseType } = METHODS[method]
    const planned = this.script.replyTo(method)
    if (planned !== undefined) return responseType.fromPartial(planned)
    const handler = this.#handlers[method] as AnyHandler | undefined
    const absent = NEWER_METHODS.includes(method) && !this.#isNewer
    if (handler === undefined || absent) throw new SimulatedFault('Unimplemented', `unknown method ${method}`)
    const reply = responseType.fromPartial(await handler(request, signal))
    const altered = this.script.altered(method, reply)
    return altered === reply ? reply : responseType.fromPartial(altered)
  }

  /** Ends what still waits. */
  [Symbol.dispose](): void {
    this.#ended.abort()
  }
}
