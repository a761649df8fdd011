/** From the least to the most of milliseconds; each container gets one of them by chance. */
export interface TimeRange {
  readonly leastMs: number
  readonly mostMs: number
}

/** What a simulated container does. */
export interface Behaviour {
  /** How long its image takes, where it is not on the node yet. */
  readonly pullTime: TimeRange
  /** How long its start takes. */
  readonly startTime: TimeRange
  /** Why it cannot be started; undefined: it can. */
  readonly startFailure: string | undefined
  /** When it ends by itself; undefined: never. */
  readonly exitsAfter: TimeRange | undefined
  readonly exitCode: number
  /** From when on its probes succeed. */
  readonly readyAfter: TimeRange
  readonly cpuCores: number
  readonly memoryBytes: number
  /** Is killed at the end of its grace. */
  readonly ignoresTerm: boolean
}

/** Which containers a rule is for: those that all of it matches. In texts, * stands for anything. */
export interface RuleMatch {
  readonly namespace?: string | undefined
  readonly pod?: string | undefined
  readonly container?: string | undefined
  readonly image?: string | undefined
  readonly labels?: Readonly<Record<string, string>> | undefined
  /** The part of such pods, from 0 to 1. */
  readonly share?: number | undefined
}

export interface SimulationRule {
  readonly match: RuleMatch
  readonly behaviour: Partial<Behaviour>
}

/** What becomes of the Node objects at the end: they stay, are reported as not ready, or are removed with their pods. */
export const ENDINGS = ['remove', 'mark', 'keep'] as const

/** What `deckhand simulate` was asked for. */
export interface SimulationOptions {
  readonly nodes: number
  /** Whole path. */
  readonly kubeconfig: string
  /** Of the names of nodes; a number follows. */
  readonly prefix: string
  readonly capacity: Readonly<Record<'cpu' | 'memory' | 'pods' | 'ephemeral-storage', string>>
  readonly labels: Readonly<Record<string, string>>
  /** As --register-with-taints takes them. */
  readonly taints: readonly string[]
  readonly startTime: TimeRange
  /** Whole path of a file with rules. */
  readonly rules: string | undefined
  readonly atEnd: (typeof ENDINGS)[number]
  readonly reportMs: number
}
