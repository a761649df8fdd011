/** Two ends: the agent leaves, or the pod is no longer to be started. The second stops only what may wait for long. */
export interface ApplySignals {
  readonly shutdown: AbortSignal
  readonly superseded: AbortSignal
}
