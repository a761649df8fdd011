import type { Clock } from '../../base/async/clock.ts'
import { Turnstile } from '../../base/async/turnstile.ts'
import type { FeatureGates } from '../../model/config/gates/feature-gates.ts'
import type { CriCalls } from '../../protocols/cri/cri-calls.ts'
import type { PodNetwork } from './pod-network.ts'
import type { ProbeDeps, ProbeIdentity, ProbeNotes } from './probe-deps.ts'
import { runProbe } from './run-probe.ts'
import type { RunProbeDeps } from './run-probe.ts'
import type { AgentMetrics } from '../../metrics/create-metrics.ts'
import type { ProbeSeries } from '../../metrics/probe-metrics.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { PodEvents } from '../../model/events/pod-events.ts'

export interface CreateProbesDeps {
  readonly calls: Pick<CriCalls, 'execSync'>
  readonly network: PodNetwork
  readonly notes: ProbeNotes
  readonly gates: FeatureGates
  readonly events: PodEvents
  readonly metrics: Pick<AgentMetrics, 'probe' | 'probeEnded'>
  readonly cores: number
  readonly clock: Clock
  readonly log: Logger
  readonly random: () => number
}

// Each is a process in a container, which costs the runtime tens of milliseconds of a core.
const PARALLEL_EXECS_PER_CORE = 2
const EXEC_PATIENCE_MS = 5000

/** What the probes of all pods of this agent share. */
export function createProbes(deps: CreateProbesDeps): ProbeDeps {
  const { calls, network, notes, gates, events, metrics, cores, clock, log, random } = deps
  const asking: RunProbeDeps = {
    calls,
    execs: new Turnstile({ places: PARALLEL_EXECS_PER_CORE * cores, patienceMs: EXEC_PATIENCE_MS, clock }),
    checkGrpcHealth: (request, signal) => network.checkGrpcHealth(clock, request, signal),
    network,
    clock,
  }
  return {
    runProbe: (request, signal) => runProbe(asking, request, signal),
    notes,
    forgetsOnRestart: gates.enabled('ChangeContainerStatusOnKubeletRestart'),
    events,
    clock,
    log,
    random,
    agentStartedAt: clock.monotonic(),
    onRun: ({ result, seconds, ...probe }) => metrics.probe(toSeries(probe), result, seconds),
    onEnded: (probe) => metrics.probeEnded(toSeries(probe)),
  }
}

function toSeries({ pod, container, type }: ProbeIdentity): ProbeSeries {
  const { namespace, name, uid } = pod.metadata
  return { namespace, pod: name, podUid: uid, container, type }
}
