import type { Clock } from '../../base/async/clock.ts'
import type { Pod, PodUid } from '../../model/pod/pod.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { PodEvents } from '../../model/events/pod-events.ts'
import type { ProbeOutcome, ProbeType } from './probe-outcome.ts'
import type { ProbeRequest } from './run-probe.ts'

/** A small text per pod that outlives the agent. */
export interface ProbeNotes {
  /** Undefined when there is none. */
  read(uid: PodUid): Promise<string | undefined>
  write(uid: PodUid, text: string): Promise<void>
  /** Moves a text that cannot be read out of the way. */
  setAside(uid: PodUid): Promise<void>
}

/** Which probe of which container. */
export interface ProbeIdentity {
  readonly pod: Pod
  readonly container: string
  readonly type: ProbeType
}

/** What counts as the cost and the outcome of one run. */
export interface ProbeMeasure extends ProbeIdentity {
  readonly result: 'successful' | 'failed' | 'unknown'
  readonly seconds: number
}

/** What the probes of all pods share. */
export interface ProbeDeps {
  readonly runProbe: (request: ProbeRequest, signal: AbortSignal) => Promise<ProbeOutcome>
  readonly notes: ProbeNotes
  /** What was started and ready is asked again after a restart of the agent. Parity: the gate ChangeContainerStatusOnKubeletRestart. */
  readonly forgetsOnRestart?: boolean
  readonly events: PodEvents
  readonly clock: Clock
  readonly log: Logger
  readonly random: () => number
  /** On the monotonic clock. */
  readonly agentStartedAt: number
  readonly onRun: (measure: ProbeMeasure) => void
  /** The probe has ended. */
  readonly onEnded: (probe: ProbeIdentity) => void
}
