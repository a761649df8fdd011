/** The ports that Ingresses are served on; none when undefined. 0 takes any that is free. */
export interface IngressPorts {
  readonly http: number | undefined
  readonly https: number | undefined
}

/** Which of the two ports. */
export type IngressProtocol = 'http' | 'https'

/** A port that cannot be listened on. */
export interface PortProblem {
  readonly protocol: IngressProtocol
  readonly port: number
  readonly why: string
}

/** What came of the ports that were asked for. */
export interface OpenedPorts {
  readonly open: IngressPorts
  readonly problems: readonly PortProblem[]
}
