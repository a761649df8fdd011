import type { Clock } from '../../base/async/clock.ts'
import type { Turnstile } from '../../base/async/turnstile.ts'
import type { ContainerNodeSettings } from '../containers/compute-container-config.ts'
import type { CpusetAssignment } from '../containers/compute-container-resources.ts'
import type { ContainerMount } from '../containers/compute-mounts.ts'
import type { SandboxNodeSettings } from '../containers/compute-pod-sandbox-config.ts'
import type { EnvironmentSources } from '../containers/environment/environment-sources.ts'
import type { CriCalls } from '../../protocols/cri/cri-calls.ts'
import type { Device, ImageSpec, PodSandboxConfig } from '../../protocols/cri/generated/runtime-v1.ts'
import type { httpGet } from '../../protocols/http/http-get.ts'
import type { ObservedPod } from '../../model/pod/observed-pod.ts'
import type { Container, EphemeralContainer, ImageVolumeSource, PodCondition } from '../../model/generated/core-v1.ts'
import type { KindedContainer } from '../../model/pod/pod-containers.ts'
import type { Pod, PodUid } from '../../model/pod/pod.ts'
import type { RuntimeFeatures } from '../../model/pod/runtime-features.ts'
import type { UserNamespaceMapping } from '../../model/pod/user-namespace.ts'
import type { ProbeDeps } from '../probes/probe-deps.ts'
import type { PodCgroup, PodCgroupState } from '../../model/resources/cgroup-values.ts'
import type { PodAllocations } from '../allocations/pod-allocations.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { PodEvents } from '../../model/events/pod-events.ts'
import type { Tracer } from '../../base/telemetry/tracer.ts'
import type { ExitJournal } from './exit-journal.ts'
import type { PodInjections } from './start/pod-injections.ts'
import type { PodFiles } from './pod-files.ts'
import type { PodMetrics } from './pod-metrics.ts'
import type { RuntimeClasses } from './start/runtime-classes.ts'
import type { NoteStep } from '../../base/telemetry/note-step.ts'

/** An image that is on the node: what the runtime calls it and the user it names. */
export interface LocalImage {
  readonly ref: string
  readonly uid: bigint | undefined
  readonly username: string
}

/** Brings the image of a container; fails with a StartError that says what users see. */
export interface ImageProvider {
  ensure(
    request: { readonly pod: Pod; readonly kinded: KindedContainer; readonly sandbox: PodSandboxConfig },
    signal: AbortSignal,
  ): Promise<LocalImage>
  /** The same for a volume that is an image. Quiet: nobody needs to hear that it is still there. */
  ensureVolume(
    request: {
      readonly pod: Pod
      readonly volume: { readonly name: string; readonly image: ImageVolumeSource }
      readonly sandbox: PodSandboxConfig
      readonly quiet: boolean
    },
    signal: AbortSignal,
  ): Promise<LocalImage>
}

/** The volumes of pods. */
interface PodVolumes {
  /** Resolves when all that containers use are there; fails with a VolumesError. What is under way goes on when the signal aborts. */
  ensure(request: { readonly pod: Pod; readonly noteStep: NoteStep }, signal: AbortSignal): Promise<void>
  /** Brings what is missing and what has changed, without anybody waiting for it. */
  keep(request: { readonly pod: Pod; readonly noteStep: NoteStep }): void
  /** What one container gets of them; fails with a ContainerConfigError. */
  containerVolumes(
    request: {
      readonly pod: Pod
      readonly container: Container | EphemeralContainer
      /** Volumes whose content the runtime brings, by name. */
      readonly images: ReadonlyMap<string, ImageSpec>
      readonly environment: () => ReadonlyMap<string, string>
      readonly recursiveReadOnlyMounts: boolean
      readonly noteStep: NoteStep
    },
    signal: AbortSignal,
  ): Promise<{ readonly mounts: readonly ContainerMount[]; readonly devices: readonly Device[] }>
  /** Groups that processes of the pod need for its volumes. */
  groups(uid: PodUid): readonly number[]
  /** Resolves when nothing of them is left; fails with a VolumesError. Only when nothing of the pod runs any more. */
  release(request: { readonly uid: PodUid; readonly noteStep: NoteStep }, signal: AbortSignal): Promise<void>
}

/** Objects of an API that pods refer to, kept at hand for them. */
interface PodReferences {
  /** Before anything is read for the pod; the same pod again costs nothing. */
  register(pod: Pod): void
  unregister(uid: PodUid): void
}

/** Looks at one pod in the runtime, now. */
interface PodObserver {
  get(uid: PodUid): ObservedPod | undefined
  refresh(uid: PodUid): Promise<ObservedPod | undefined>
  /** Details of this pod changed although no state did: the next look reads all of it. */
  outdate(uid: PodUid): void
}

/** The pod's own cgroup. */
interface PodCgroups {
  /** Makes the pod's cgroup with its values where there is none; true when it did. Fails with a CgroupError. */
  ensure(pod: Pod): Promise<boolean>
  /** What is in force; undefined when the pod has no cgroup of its own. */
  current(pod: Pod): Promise<PodCgroupState | undefined>
  /** Changes the values named, and no others. Fails with a CgroupError. */
  write(pod: Pod, values: Partial<PodCgroup>): Promise<void>
  /** The memory that one container of a pod uses; undefined when nobody knows. */
  containerMemory(uid: PodUid, containerId: string): Promise<bigint | undefined>
  /** Removes the cgroups of a pod in which nothing runs any more. */
  remove(uid: PodUid): Promise<void>
  /** Ends every process in the cgroup of one container of a pod. */
  killContainer(uid: PodUid, containerId: string): Promise<void>
}

/** Which CPUs and memory nodes containers have for themselves. */
interface PodPlacement {
  /** For a container that is about to be made; undefined when it may use all. */
  prepare(uid: PodUid, container: string): Promise<CpusetAssignment | undefined>
  hasExclusive(uid: PodUid): boolean
}

/** What is granted to pods that ask for other resources than they had. */
interface PodResizing {
  conditions(uid: PodUid): readonly PodCondition[]
  looked(pod: Pod, isResizing: boolean): void
  failed(pod: Pod, message: string): void
}

/** Which ids of the node are those of a pod with a user namespace. */
interface PodUserNamespaces {
  /** The same for a pod each time; recorded before they are given. */
  acquire(uid: PodUid): Promise<UserNamespaceMapping>
}

/** What is the same for every pod of this node. */
export interface NodeSettings {
  readonly rootDirectory: string
  readonly podLogsDirectory: string
  readonly sandbox: SandboxNodeSettings
  readonly container: ContainerNodeSettings
  /** How many dead instances of a container are kept besides the newest living one; at least one. */
  readonly deadInstancesKept: number
  /** How long a dead container stays at least, from the time it was made. */
  readonly deadContainerLeastMs: number
}

/** Everything the worker of a pod acts through. */
export interface PodRuntime {
  readonly calls: Pick<
    CriCalls,
    | 'runPodSandbox'
    | 'stopPodSandbox'
    | 'removePodSandbox'
    | 'podSandboxStatus'
    | 'createContainer'
    | 'startContainer'
    | 'stopContainer'
    | 'execSync'
    | 'removeContainer'
    | 'updateContainerResources'
    | 'updatePodSandboxResources'
  >
  readonly observer: PodObserver
  readonly images: ImageProvider
  readonly volumes: PodVolumes
  readonly injections: PodInjections
  readonly references: PodReferences
  /** What the runtime can do, by its newest word. */
  readonly features: () => RuntimeFeatures
  readonly runtimeClasses: RuntimeClasses
  readonly userNamespaces: PodUserNamespaces
  readonly httpGet: typeof httpGet
  readonly files: PodFiles
  readonly cgroups: PodCgroups
  readonly placement: PodPlacement
  readonly allocations: Pick<PodAllocations, 'allocated' | 'actuated' | 'noteContainer' | 'notePod' | 'saved'>
  readonly resizes: PodResizing
  readonly journal: Pick<ExitJournal, 'get' | 'record' | 'forget'>
  /** Asks for what the environment of a container needs from elsewhere. */
  readonly readEnvironment: (
    request: Pick<KindedContainer, 'container'> & { readonly pod: Pod },
    signal: AbortSignal,
  ) => Promise<EnvironmentSources>
  readonly events: PodEvents
  readonly starts: Pick<Turnstile, 'pass'>
  readonly probes: ProbeDeps
  readonly metrics: PodMetrics
  readonly node: NodeSettings
  /** Work that nothing else here would show, under its name. */
  readonly noteStep: NoteStep
  readonly tracer: Tracer
  readonly clock: Clock
  readonly log: Logger
  readonly random: () => number
}
