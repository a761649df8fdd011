/** What a probe asks about its container. */
export type ProbeType = 'startup' | 'readiness' | 'liveness'

/**
 * How one question ended. A warning counts as success. An error says nothing about the container: it could not be asked, so it is
 * neither a success nor a failure; its state is the word that users see for it.
 */
export type ProbeOutcome =
  | { readonly result: 'success'; readonly output: string }
  | { readonly result: 'warning'; readonly output: string }
  | { readonly result: 'failure'; readonly output: string }
  | { readonly result: 'error'; readonly output: string; readonly state: 'unknown' | 'failure' }

/** The last answer to a probe, and the instance of its container that gave it. */
export interface ProbeAnswer {
  readonly type: ProbeType
  readonly container: string
  readonly containerId: string
  readonly outcome: ProbeOutcome
  readonly ms: number
}

/** Who asks, as servers know it from every kubelet of this version. */
export const PROBE_USER_AGENT = 'kube-probe/1.36'

/** So much of what a container says about itself is kept. */
export const OUTPUT_BYTES = 10 * 1024
