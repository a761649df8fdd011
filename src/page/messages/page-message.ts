/** A pod as the table shows it. */
export interface PodRow {
  /** By which the agent knows the pod. */
  readonly uid: string
  readonly namespace: string
  readonly name: string
  /** As kubectl shows it: the phase, or what keeps the pod from its next one. */
  readonly status: string
  readonly phase: string
  readonly ready: number
  readonly containers: number
  readonly isReady: boolean
  /** Whether the node did not let it in; the note says why. */
  readonly isRejected: boolean
  readonly restarts: number
  /** As the API writes it. */
  readonly created: string
  readonly address: string
  /** What its status says about why it is not well, for pods that no agent explains; empty when it is well. */
  readonly note: string
}

export interface EventRow {
  readonly uid: string
  readonly type: string
  readonly reason: string
  readonly message: string
  /** When it happened last, as the API writes it. */
  readonly at: string
  readonly count: number
  readonly kind: string
  readonly namespace: string
  readonly name: string
  /** Empty for what is about the whole object. */
  readonly container: string
}

interface ConditionRow {
  readonly type: string
  readonly status: string
  readonly reason: string
  readonly message: string
  readonly since: string
  /** Whether it is as it should be. */
  readonly isGood: boolean
}

export interface NodeView {
  readonly name: string
  readonly conditions: readonly ConditionRow[]
  readonly isUnschedulable: boolean
  readonly taints: readonly string[]
  readonly addresses: readonly string[]
  readonly capacity: Readonly<Record<string, string>>
  readonly allocatable: Readonly<Record<string, string>>
  /** Versions and the like, each with its name. */
  readonly info: readonly (readonly [name: string, value: string])[]
}

/** What the node uses at one moment; undefined is what is not measured there. */
export interface NodeSample {
  /** Milliseconds since the epoch. */
  readonly at: number
  /** Cores. */
  readonly cpu?: number | undefined
  /** Bytes, as are the next ones. */
  readonly memory?: number | undefined
  readonly memoryTotal?: number | undefined
  readonly disk?: number | undefined
  readonly diskTotal?: number | undefined
  readonly processes?: number | undefined
  readonly processesMost?: number | undefined
  /** How much of the time something waited, in per cent, over the last ten seconds. */
  readonly cpuPressure?: number | undefined
  readonly memoryPressure?: number | undefined
  readonly ioPressure?: number | undefined
}

/** Cores and bytes of one pod at one moment; null where it was not there or not measured. */
export type PodUse = readonly [cpu: number | null, memory: number | null]

/** What one pod used in the last hour, and what it takes of the disk now. */
export interface UsageView {
  /** Milliseconds since the epoch; the next two have an entry for each. */
  readonly times: readonly number[]
  readonly cpu: readonly (number | null)[]
  readonly memory: readonly (number | null)[]
  readonly volumes: readonly VolumeUse[]
  /** Layers of containers, logs and volumes that go with the pod. */
  readonly ephemeralBytes?: number | undefined
}

/** What a volume takes, as far as it is measured. */
export interface VolumeUse {
  readonly name: string
  readonly usedBytes?: number | undefined
  readonly capacityBytes?: number | undefined
  readonly claim?: { readonly namespace: string; readonly name: string } | undefined
}

/** A file of the user that is not used as it is. */
export interface RefusedFile {
  readonly file: string
  readonly line?: number | undefined
  readonly object?: string | undefined
  readonly reason: string
  readonly hasLastGood?: boolean | undefined
}

/** Who does not answer; or what there is not, as long as the page is served, which is no fault. */
export type ProblemSource = 'api' | 'agent' | 'missing'

/** What the page gets over its one stream, a line of JSON each. */
export type PageMessage =
  | { readonly kind: 'pods'; readonly rows: readonly PodRow[] }
  | { readonly kind: 'pod'; readonly row: PodRow }
  | { readonly kind: 'pod-gone'; readonly uid: string }
  | { readonly kind: 'events'; readonly rows: readonly EventRow[] }
  | { readonly kind: 'event'; readonly row: EventRow }
  | { readonly kind: 'node'; readonly node: NodeView | null }
  | {
      readonly kind: 'history'
      readonly node: readonly NodeSample[]
      readonly pods: Readonly<Record<string, readonly PodUse[]>>
    }
  | { readonly kind: 'sample'; readonly node: NodeSample; readonly pods: Readonly<Record<string, PodUse>> }
  | { readonly kind: 'why'; readonly sentences: Readonly<Record<string, string | null>> }
  | { readonly kind: 'refused'; readonly files: readonly RefusedFile[] }
  /** What the server cannot read at the moment; null: it can again. */
  | { readonly kind: 'problem'; readonly source: ProblemSource; readonly text: string | null }
  /** The connection is there. */
  | { readonly kind: 'alive' }

/** Something that a user may do or not; empty is what does not matter. */
export interface AccessQuestion {
  readonly verb: string
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
}

/** A port of a pod that is forwarded to a port of the machine which serves the page. */
export interface ForwardView {
  readonly namespace: string
  readonly pod: string
  readonly port: number
  /** With its port. */
  readonly address: string
  /** Why the last connection failed. */
  readonly problem?: string | undefined
}

/** Who looks at the page. */
export interface SessionView {
  readonly user: string
  readonly isReader: boolean
  readonly nodeName: string
  readonly version: string
  /** Whether images can be pulled from here, by those who may. */
  readonly canPull: boolean
  /** Whether a kubelet answers for itself, without an API: there are no events, and nothing can be changed. */
  readonly isKubelet: boolean
}
