/**
 * When the agent dies: before a step, while it is being done and goes on without the agent, while it is being done and ends with the agent
 * (only child processes can), or when its answer is there and nothing has been made of it yet.
 */
export type KillMoment = 'before' | 'unanswered' | 'together' | 'answered'

/** A pod's life is cut at these steps, each "<what is done>#<how many such steps it has seen>". */
interface PodKills {
  readonly steps: readonly string[]
  readonly when: KillMoment
}

/** By the pod's name on the node, or its UID where a step knows no more. */
export type KillPlan = Readonly<Record<string, PodKills>>

/** A line in the journal of a kill switch. */
export interface NotedCall {
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly pod: string
  readonly step: string
  /** Of the container or the sandbox. */
  readonly attempt: number
  readonly event: 'sent' | 'answered' | 'failed' | 'killed'
}
