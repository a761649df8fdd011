import type { Clock } from '../../base/async/clock.ts'
import type { MemoryTrimDeps } from '../../base/telemetry/run-memory-trim.ts'
import type { TaskGroup } from '../../base/async/task-group.ts'
import type { IngressOptions } from '../../controllers/network/ingress/ingress-controller.ts'
import type { KubeClient } from '../../protocols/kube-api/kube-client.ts'
import type { NodeLayout, ServiceLayout } from './node-layout.ts'
import type { NodeSchedulerDeps } from './api/run-node-scheduler.ts'

/** How the Kubernetes API of a node is to be served. */
export interface ServedApi {
  readonly folder: string
  readonly port: number
  /** Where it is served besides loopback, for other machines. */
  readonly addresses: readonly string[]
  readonly nodeName: string
  readonly adminKubeconfig: string
  readonly readerKubeconfig: string
  readonly agentKubeconfig: string
  readonly logFile: string
  /** Where services get their addresses from. */
  readonly serviceRange: string
  /** Whether the machine has the first of them, which is that of the API. */
  readonly hasServiceAddress: boolean
  /** Where the agent answers root. */
  readonly agentSocket: string
  /** Resources that nothing acts on, each with the reason. */
  readonly switchedOff: ReadonlyMap<string, string>
  /** The storage class of claims that name none; undefined: none is made. */
  readonly storageClass: { readonly name: string; readonly provisioner: string } | undefined
  /** The class of Ingresses that name none; undefined: none is made. */
  readonly ingressClass: { readonly name: string; readonly controller: string } | undefined
  /** Something went wrong in it that it logged as an error. */
  readonly onError: (what: string) => void
  /** Clients may come. */
  readonly onReady: () => void
}

/** Serves it until the signal aborts. */
type ServeApi = (api: ServedApi, signal: AbortSignal) => Promise<void>

/** How the controllers of a node are to be run. */
export interface NodeControllers {
  readonly kubeconfig: string
  readonly nodeName: string
  /** Parts that are switched off. */
  readonly without: readonly string[]
  readonly services: ServiceLayout
  /** Where services have their addresses, and where pods have theirs: a range of each family. */
  readonly serviceRanges: readonly string[]
  readonly podRanges: readonly string[]
  readonly seesBridge: boolean
  /** The device that pods are attached to. */
  readonly bridge: string
  /** What the rules of services are written with. */
  readonly rulesProgram: 'nft' | 'iptables' | undefined
  /** What the rule is written with that gives pods the node's address towards the outside; undefined: it is not ours. */
  readonly masqueradeProgram: 'nft' | 'iptables' | undefined
  /** Why network policies are not enforced, if they are not. */
  readonly policyRefusal: string | undefined
  /** The ports that Ingresses are served on, or why they are not. */
  readonly ingress: Pick<IngressOptions, 'ports' | 'onPorts'> | { readonly refusal: string }
  /** Where the data of volumes are. */
  readonly volumes: string
  readonly logFile: string
}

/** How the page of a node is to be served. */
export interface ServedPage {
  readonly port: number
  readonly layout: NodeLayout
  readonly nodeName: string
  /** It listens, and "deckhand page" can make links. */
  readonly onReady: () => void
}

/** What the commands of a standalone node get from outside. */
export interface StandaloneDeps {
  readonly clock: Clock
  /** A line for the user. */
  say(line: string): void
  /** The command of our own agent. */
  readonly ownKubelet: readonly string[]
  readonly pid: number
  /** PATH: where programs are searched. */
  readonly programPath: string
  readonly userId: number | undefined
}

/** What commands get that ask the API. */
export interface ClientDeps extends StandaloneDeps {
  /** A client with the rights of a kubeconfig file. */
  readonly openClient: (kubeconfig: string, tasks: TaskGroup) => Promise<KubeClient>
}

/** What "status" gets besides. */
export interface StatusDeps extends ClientDeps {
  /** Asks what answers at the endpoint of a runtime that is not ours. */
  readonly askRuntime: (endpoint: string, signal: AbortSignal) => Promise<RuntimeAnswer>
}

/** Silent: the connection is taken, the question is not answered. */
export type RuntimeAnswer = 'docker' | 'other' | 'silent' | 'nothing'

/** What "up" gets besides. */
export interface UpDeps extends ClientDeps {
  /** Asks what listens at an endpoint. */
  readonly isDocker: (endpoint: string, signal: AbortSignal) => Promise<boolean>
  readonly hostname: string
  /** From 0 up to, but not including, 1. */
  readonly random: () => number
  readonly serveApi: ServeApi
  /** How memory is given back after a burst of work. */
  readonly memory: Omit<MemoryTrimDeps, 'clock'>
  /** Serves the page until the signal aborts. */
  readonly servePage: (page: ServedPage, signal: AbortSignal) => Promise<void>
  /** Whether the output goes to a person, not into a file. */
  readonly isTerminal: boolean
  /** Gives pods their node until the signal aborts. */
  readonly runScheduler: (deps: Omit<NodeSchedulerDeps, 'random'>, signal: AbortSignal) => Promise<void>
  /** Acts on workloads until the signal aborts. */
  readonly runControllers: (controllers: NodeControllers, signal: AbortSignal) => Promise<void>
}
