import type { ContainerKind } from '../model/pod-containers.ts'

/** What is counted of all pods. */
export interface PodMetrics {
  /** A container was to start; the failure is the reason that users see. */
  containerStart(kind: ContainerKind, failure: string | undefined): void
  sandboxStart(run: SandboxRun): void
  /** A pod runs for the first time, so long after it was first seen. */
  podStart(seconds: number): void
  /** The API knows for the first time that all containers of a pod run. */
  podStartKnown(start: KnownStart): void
  /** One pass of the worker of a pod. */
  podWorkerPass(operation: 'create' | 'update' | 'sync' | 'kill' | 'terminated', seconds: number): void
  /** The worker of a pod began, so long after the pod was first seen. */
  podWorkerStart(seconds: number): void
  /** The node refused a pod, for a reason that users see. */
  podRejected(reason: string): void
  /** A pod was taken away and came back while it was still ending. */
  podRestarted(isStatic: boolean): void
  /** The runtime has a pod that nobody knows. */
  podOrphaned(): void
  /** A container was seen to have ended. */
  containerEnded(kind: ContainerKind, end: { readonly exitCode: number; readonly reason: string }): void
  /** A hook that sleeps was given up before its time. */
  sleepCutShort(): void
  /** A hook asked over HTTPS, and had to ask again over HTTP. */
  hookFellBack(): void
  /** A volume that is an image was brought, or could not be. */
  imageVolume(failed: boolean): void
  /** A resize was brought about, or could not be. */
  resizeActuated(milliseconds: number, success: boolean): void
}

/** One try to make a sandbox. */
interface SandboxRun {
  readonly failed: boolean
  /** The empty one is that of the runtime's choice. */
  readonly handler: string
  readonly hasOwnUsers: boolean
  readonly seconds: number
}

/** How long it took from the making of a pod until the API knew that it runs. */
export interface KnownStart {
  readonly totalSeconds: number
  /** Without the pulling of images and the running of init containers; undefined where volumes of other kinds than the node's own may take long. */
  readonly sliSeconds: number | undefined
  readonly hasNetwork: boolean
}
