import type { Clock } from '../async/clock.ts'
import { Wakeup } from '../async/wakeup.ts'
import { TaskGroup } from '../async/task-group.ts'
import type { CriClient } from '../cri/cri-client.ts'
import { runConnectionWatch } from '../cri/runtime-connection.ts'
import { fetchRuntimeStatus } from '../cri/runtime-status.ts'
import type { RuntimeStatusReport } from '../cri/runtime-status.ts'
import type { Logger } from '../telemetry/logger.ts'

export interface RuntimeHealthDeps {
  readonly client: Pick<CriClient, 'status' | 'connection'>
  readonly clock: Clock
  readonly log: Logger
  /** Something about the runtime or its network got better or worse. */
  readonly onChange: () => void
}

type RuntimeAbilities = Pick<RuntimeStatusReport, 'handlers' | 'features'>

const ASK_MS = 5000

/** Is the runtime there, and does it have a network for pods? */
export class RuntimeHealth {
  readonly #deps: RuntimeHealthDeps
  #runtimeProblem: string | undefined = 'runtime was not asked yet'
  #networkProblem: string | undefined = 'network state unknown'
  #abilities: RuntimeAbilities = { handlers: [], features: undefined }

  constructor(deps: RuntimeHealthDeps) {
    this.#deps = deps
  }

  get runtimeProblem(): string | undefined {
    return this.#runtimeProblem
  }

  get networkProblem(): string | undefined {
    return this.#networkProblem
  }

  /** What the runtime last said that it can do; nothing before it said a word. */
  get abilities(): RuntimeAbilities {
    return this.#abilities
  }

  /** Asks once. */
  async check(signal: AbortSignal): Promise<void> {
    try {
      this.#judge(await fetchRuntimeStatus(this.#deps.client, signal))
    } catch (error) {
      if (signal.aborted) throw error
      // What was last known of the network still holds: the pods keep theirs while the runtime is away.
      this.#set(
        `container runtime is down: ${Error.isError(error) ? error.message : String(error)}`,
        this.#networkProblem,
      )
    }
  }

  /** Asks every few seconds, and at once when the connection comes or goes. */
  async run(signal: AbortSignal): Promise<void> {
    const { client, clock } = this.#deps
    const bell = new Wakeup()
    await using group = new TaskGroup(signal)
    group.run('connection', (watchSignal) =>
      runConnectionWatch({ connection: client.connection, onChange: () => bell.wake() }, watchSignal),
    )
    group.run('status', async (askSignal) => {
      for (;;) {
        await bell.wait({ clock, ms: ASK_MS }, askSignal)
        await this.check(askSignal)
      }
    })
    await group.join()
  }

  #judge({ runtimeReady, networkReady, handlers, features }: RuntimeStatusReport): void {
    this.#abilities = { handlers, features }
    const problem = (condition: typeof runtimeReady, name: string) =>
      condition?.status === true
        ? undefined
        : `${name} is not ready: ${condition?.reason ?? 'Unknown'}: ${condition?.message ?? ''}`
    this.#set(problem(runtimeReady, 'container runtime'), problem(networkReady, 'container runtime network'))
  }

  #set(runtimeProblem: string | undefined, networkProblem: string | undefined): void {
    if (runtimeProblem === this.#runtimeProblem && networkProblem === this.#networkProblem) return
    const was = this.#runtimeProblem ?? this.#networkProblem
    this.#runtimeProblem = runtimeProblem
    this.#networkProblem = networkProblem
    const is = runtimeProblem ?? networkProblem
    if (is !== undefined) this.#deps.log.warn('node is not ready', { reason: is })
    else if (was !== undefined) this.#deps.log.info('node is ready')
    this.#deps.onChange()
  }
}
