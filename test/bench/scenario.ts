import type { LabAgent } from '../e2e/lab/lab-agent.ts'
import type { Lab } from '../e2e/lab/start-lab.ts'
import type { Pod } from '../../src/model/pod/pod.ts'
import type { Samples } from './rows.ts'

/** What a scenario works with: a fresh lab, the kubelet to measure, and how much of it. */
export interface Bench {
  readonly lab: Lab
  /** Path of the kubelet; undefined is our own. */
  readonly binary: string | undefined
  readonly runs: number
  readonly pods: number
  readonly densePods: number
  readonly probedPods: number
  readonly steadyMs: number
  /** For how long pods come and go. */
  readonly rushMs: number
  /** A checkout of an earlier version. */
  readonly earlier: string | undefined
  readonly signal: AbortSignal
}

/** Measures some rows in one lab. */
export interface Scenario {
  readonly name: string
  readonly rows: readonly string[]
  /** Of our own node alone: another kubelet has nothing like it. */
  readonly isOwn?: true
  /** Why it cannot be measured here; undefined when it can. */
  refusal?(options: Pick<Bench, 'earlier'>): string | undefined
  measure(bench: Bench): Promise<Samples>
}

// The first start may have to build, on a machine that is busy.
const PATIENCE_MS = 180_000

/** Starts the kubelet to measure and waits until it is healthy. */
export async function startBenchAgent(
  { lab, binary }: Bench,
  config: Readonly<Record<string, unknown>> = {},
): Promise<LabAgent> {
  const agent = await lab.startAgent({ config, ...(binary !== undefined && { binary }) })
  await agent.healthy(PATIENCE_MS)
  return agent
}

/** True when the pod's Ready condition is. */
export function isReady(pod: Pod | undefined): boolean {
  return pod?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false
}
