import type { IngressPorts } from '../../controllers/network/ingress/ingress-ports.ts'

/** Where the node listens. */
export interface NodePorts {
  /** The Kubernetes API, which kubectl talks to. */
  readonly kubernetes: number
  /** The agent's own. */
  readonly agent: number
  readonly healthz: number
}

export interface UpOptions {
  readonly state: string
  /** Undefined: "manifests" in the state folder. */
  readonly manifests: string | undefined
  /** A folder of objects to apply, also when they change. */
  readonly apply: string | undefined
  /** The endpoint of a runtime of the user's, CRI or Docker; `auto`: Docker where there is no containerd; undefined: our own containerd. */
  readonly runtime: string | undefined
  /** The program with which our own containerd runs containers; undefined: runc, or crun where only that is installed. */
  readonly ociRuntime: string | undefined
  /** Path of another kubelet to run as the agent. */
  readonly kubelet: string | undefined
  readonly cgroupRoot: string | undefined
  readonly ports: NodePorts
  /** Where API and agent are served for other machines: none, one address, or one of each family. */
  readonly addresses: readonly string[]
  /** Whether pods and services have addresses of IPv6 too. */
  readonly isDualStack: boolean
  /** Of the page to look at; undefined: none is served. */
  readonly pagePort: number | undefined
  /** Of the ingress; none of a kind where it is undefined. */
  readonly ingressPorts: IngressPorts
  /** Parts that are switched off. */
  readonly without: readonly string[]
}

/** The choice of a runtime is left to us. */
export const AUTO_RUNTIME = 'auto'
/** Where Docker listens unless it was configured otherwise. */
export const DOCKER_ENDPOINT = 'unix:///var/run/docker.sock'
