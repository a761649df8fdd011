/** When the agent dies: while the runtime works on the call, or when its answer is there and nothing has been made of it yet. */
export type KillMoment = 'unanswered' | 'answered'

/** A pod's life is cut at these steps, each "<call> <container or sandbox> [program]#<how many such calls it has seen>". */
export interface PodKills {
  readonly steps: readonly string[]
  readonly when: KillMoment
}

/** By the pod's name on the node. */
export type KillPlan = Readonly<Record<string, PodKills>>

/** A line in the journal of the kill switch. */
export interface NotedCall {
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly pod: string
  readonly step: string
  /** Of the container or the sandbox. */
  readonly attempt: number
  readonly event: 'sent' | 'answered' | 'failed' | 'killed'
}
