/** What stands in a record, by its type. */
export type ZoneRecord =
  | { readonly type: 'A' | 'AAAA' | 'CNAME' | 'PTR' | 'NS' | 'TXT'; readonly name: string; readonly data: string }
  | {
      readonly type: 'SRV'
      readonly name: string
      readonly data: {
        readonly priority: number
        readonly weight: number
        readonly port: number
        readonly target: string
      }
    }

/** One that listens behind a service. */
export interface ZoneEndpoint {
  readonly address: string
  /** The first label of its own name. */
  readonly label: string
  readonly isReady: boolean
  readonly ports: readonly ZonePort[]
}

export interface ZonePort {
  readonly name: string
  /** Lower case. */
  readonly protocol: string
  readonly port: number
}

export interface ZoneService {
  /** Empty for a headless service. */
  readonly addresses: readonly string[]
  readonly externalName: string | undefined
  readonly ports: readonly ZonePort[]
  readonly endpoints: readonly ZoneEndpoint[]
}

/** All names of the cluster. */
export interface ClusterZone {
  /** As in "cluster.local". */
  readonly domain: string
  /** Where this server listens. */
  readonly serverAddress: string
  readonly namespaces: ReadonlySet<string>
  /** By "namespace/name". */
  readonly services: ReadonlyMap<string, ZoneService>
  /** Addresses of pods by namespace. */
  readonly pods: ReadonlyMap<string, ReadonlySet<string>>
  /** Names by address. */
  readonly names: ReadonlyMap<string, readonly string[]>
  /** Ranges whose addresses only this server knows. */
  readonly ranges: readonly string[]
}
