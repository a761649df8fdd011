import type { Clock } from '../../base/async/clock.ts'
import { Wakeup } from '../../base/async/wakeup.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import type { CriClient } from '../../protocols/cri/cri-client.ts'
import { runConnectionWatch } from '../../protocols/grpc/grpc-connection.ts'
import { fetchRuntimeStatus } from '../../protocols/cri/runtime-status.ts'
import type { RuntimeStatusReport } from '../../protocols/cri/runtime-status.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { errorMessage } from '../../base/telemetry/error-text.ts'

export interface RuntimeHealthDeps {
  readonly client: Pick<CriClient, 'status' | 'connection'>
  readonly clock: Clock
  readonly log: Logger
  /** Something about the runtime or its network got better or worse. */
  readonly onChange: () => void
}

type RuntimeAbilities = Pick<RuntimeStatusReport, 'handlers' | 'features'>

const ASK_MS = 5000
// A node that starts is waited for, so its start is watched more closely.
const ASK_AT_START_MS = 200
const START_MS = 120_000
// A runtime may restart without the cluster having to know.
const SILENCE_MS = 30_000

/** Is the runtime there, and does it have a network for pods? */
export class RuntimeHealth {
  readonly #deps: RuntimeHealthDeps
  #runtimeProblem: string | undefined = 'runtime was not asked yet'
  #networkProblem: string | undefined = 'network state unknown'
  #abilities: RuntimeAbilities = { handlers: [], features: undefined }
  #answeredAt: number | undefined
  /** What the runtime itself has against being used. */
  #complaint: string | undefined
  #reportedProblems: readonly string[] = []

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

  /** Why the node is not ready, in the words of the Go kubelet. A runtime that is silent for a moment only is no reason. */
  get nodeProblems(): readonly string[] {
    return [
      ...this.#describeSilence(),
      ...[this.#complaint, this.#networkProblem].filter((problem) => problem !== undefined),
    ]
  }

  /** Asks once. */
  async check(signal: AbortSignal): Promise<void> {
    try {
      this.#judge(await fetchRuntimeStatus(this.#deps.client, signal))
    } catch (error) {
      if (signal.aborted) throw error
      // What was last known of the network still holds: the pods keep theirs while the runtime is away.
      this.#set(`container runtime is down: ${errorMessage(error)}`, this.#networkProblem)
    }
  }

  /** Asks every few seconds, at the start more often, and at once when the connection comes or goes. */
  async run(signal: AbortSignal): Promise<void> {
    const { client, clock } = this.#deps
    const wakeup = new Wakeup()
    const startedAt = clock.monotonic()
    const isStarting = () => this.nodeProblems.length > 0 && clock.monotonic() - startedAt < START_MS
    await using group = new TaskGroup(signal)
    group.run('connection', (watchSignal) =>
      runConnectionWatch({ connection: client.connection, onChange: () => wakeup.wake() }, watchSignal),
    )
    group.run('status', async (askSignal) => {
      for (;;) {
        await wakeup.wait({ clock, ms: isStarting() ? ASK_AT_START_MS : ASK_MS }, askSignal)
        await this.check(askSignal)
      }
    })
    await group.join()
  }

  #describeSilence(): readonly string[] {
    if (this.#answeredAt === undefined) return ['container runtime status check may not have completed yet']
    return this.#deps.clock.monotonic() - this.#answeredAt >= SILENCE_MS ? ['container runtime is down'] : []
  }

  #judge({ runtimeReady, networkReady, handlers, features }: RuntimeStatusReport): void {
    this.#abilities = { handlers, features }
    this.#answeredAt = this.#deps.clock.monotonic()
    this.#complaint = findProblem(runtimeReady, 'container runtime', 'RuntimeReady')
    this.#set(this.#complaint, findProblem(networkReady, 'container runtime network', 'NetworkReady'))
  }

  #set(runtimeProblem: string | undefined, networkProblem: string | undefined): void {
    const isSame = runtimeProblem === this.#runtimeProblem && networkProblem === this.#networkProblem
    const was = this.#runtimeProblem ?? this.#networkProblem
    this.#runtimeProblem = runtimeProblem
    this.#networkProblem = networkProblem
    const problems = this.nodeProblems
    if (isSame && problems.join() === this.#reportedProblems.join()) return
    this.#reportedProblems = problems
    const is = runtimeProblem ?? networkProblem
    if (is !== undefined && !isSame) this.#deps.log.warn('node is not ready', { reason: is })
    else if (is === undefined && was !== undefined) this.#deps.log.info('node is ready')
    this.#deps.onChange()
  }
}

/** What the runtime has to say against one of its two conditions; not to report it counts as a word against it. */
function findProblem(condition: RuntimeStatusReport['runtimeReady'], what: string, type: string): string | undefined {
  if (condition?.status === true) return undefined
  const { reason, message } = condition ?? { reason: 'Unknown', message: 'the runtime does not report it' }
  return `${what} not ready: ${type}=false reason:${reason} message:${message}`
}
