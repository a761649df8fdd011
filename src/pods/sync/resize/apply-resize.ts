import { computeContainerResources } from '../../containers/compute-container-resources.ts'
import { NO_LINUX_RESOURCES } from '../../containers/compute-cpu-and-memory.ts'
import { computeOverhead } from '../../containers/compute-pod-sandbox-config.ts'
import { CriCallError } from '../../../protocols/cri/cri-call-error.ts'
import { findContainer } from '../../../model/pod/pod-containers.ts'
import { podLogName } from '../../../model/pod/pod.ts'
import type { Pod, PodUid } from '../../../model/pod/pod.ts'
import { computePodCgroup } from '../../containers/compute-pod-cgroup.ts'
import type { PodResizeActions } from '../decide/pod-actions.ts'
import { computeResizePlan } from './compute-resize-plan.ts'
import type { MemoryUsage, PodSize, ResizeStep } from './compute-resize-plan.ts'
import { errorMessage } from '../../../base/telemetry/error-text.ts'
import type { Clock } from '../../../base/async/clock.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import type { NoteStep } from '../../../base/telemetry/note-step.ts'
import type { ResizeMetrics } from '../../../metrics/resize-metrics.ts'
import type { PodCgroup, PodCgroupState } from '../../../model/resources/cgroup-values.ts'
import type { CriCalls } from '../../../protocols/cri/cri-calls.ts'
import type { PodAllocations } from '../../allocations/pod-allocations.ts'
import type { CpusetAssignment } from '../../containers/compute-container-resources.ts'
import type { NodeSettings } from '../node-settings.ts'

export interface ApplyResizeDeps {
  readonly calls: Pick<CriCalls, 'updateContainerResources' | 'updatePodSandboxResources'>
  readonly allocations: Pick<PodAllocations, 'actuated' | 'noteContainer' | 'notePod' | 'saved'>
  readonly cgroups: {
    /** What is in force; undefined when the pod has no cgroup of its own. */
    current(pod: Pod): Promise<PodCgroupState | undefined>
    /** Changes the values named, and no others. Fails with a CgroupError. */
    write(pod: Pod, values: Partial<PodCgroup>): Promise<void>
    /** The memory that one container of a pod uses; undefined when that is unknown. */
    containerMemory(uid: PodUid, containerId: string): Promise<bigint | undefined>
  }
  readonly placement: {
    /** The CPUs and memory nodes of a container; undefined when it may use all. */
    prepare(uid: PodUid, container: string): Promise<CpusetAssignment | undefined>
    hasExclusive(uid: PodUid): boolean
  }
  readonly observer: {
    /** Details of this pod changed although no state did: the next refresh reads all of it. */
    outdate(uid: PodUid): void
  }
  readonly node: Pick<NodeSettings, 'sandbox' | 'container'>
  readonly metrics: Pick<ResizeMetrics, 'resizeActuated'>
  readonly noteStep: NoteStep
  readonly clock: Clock
  readonly log: Logger
}

export interface ResizeRequest {
  /** With the resources that it was granted. */
  readonly pod: Pod
  readonly sandboxId: string
  readonly actions: PodResizeActions
}

/** A pod could not get what it was granted, in the words that its users see. */
export class PodResizeError extends Error {
  override name = 'PodResizeError'
}

/** Resizes what runs of a pod to what it was granted. Fails with a PodResizeError; what was done until then stands. */
export async function applyResize(deps: ApplyResizeDeps, request: ResizeRequest, signal: AbortSignal): Promise<void> {
  const { pod, actions } = request
  const { allocations, cgroups, clock, metrics } = deps
  const begunAt = clock.monotonic()
  let [success, counts] = [false, true]
  try {
    // A later agent that finds more set than it knows of as granted would leave it so.
    await allocations.saved()
    const state = await cgroups.current(pod)
    const wanted = toWanted(deps, pod)
    const actuated = allocations.actuated(pod.metadata.uid) ?? { containers: new Map(), pod: undefined }
    const usage = await readUsage(deps, request, state?.memoryUsageBytes)
    const plan = computeResizePlan({ pod, actions, actuated, current: state, wanted, usage })
    if (plan.kind === 'infeasible') throw new PodResizeError(plan.message)
    counts = plan.steps.some(({ kind }) => kind !== 'done')
    const sizes = { now: state ?? wanted }
    for (const step of plan.steps) await applyStep(deps, { ...request, sizes, step }, signal)
    await allocations.saved()
    success = true
  } catch (error) {
    if (signal.aborted || error instanceof PodResizeError) throw error
    // A runtime that is away says nothing about the resize.
    if (error instanceof CriCallError && error.code === 'Unavailable') throw error
    const why = error instanceof CriCallError ? error.detail : errorMessage(error)
    throw new PodResizeError(why, { cause: error })
  } finally {
    deps.observer.outdate(pod.metadata.uid)
    if (counts) metrics.resizeActuated(clock.monotonic() - begunAt, success)
  }
}

function toWanted({ node, placement }: ApplyResizeDeps, pod: Pod): PodSize {
  return computePodCgroup(pod, {
    ...node.container.resources,
    podPidsLimit: 0n,
    hugepageSizes: [],
    protectsMemory: false,
    exclusiveCpus: placement.hasExclusive(pod.metadata.uid),
  })
}

/** Only of what gets less memory: nothing else can fail for its usage. */
async function readUsage(
  { cgroups }: ApplyResizeDeps,
  { pod, actions }: ResizeRequest,
  ofPod: bigint | undefined,
): Promise<MemoryUsage> {
  const containers = new Map<string, bigint>()
  for (const { id, name, memory } of actions.updates) {
    const usage = memory === 'shrinks' ? await cgroups.containerMemory(pod.metadata.uid, id) : undefined
    if (usage !== undefined) containers.set(name, usage)
  }
  return { pod: ofPod, containers }
}

interface StepRequest extends ResizeRequest {
  /** The pod's own cgroup, as it is by now. */
  readonly sizes: { now: PodSize }
  readonly step: ResizeStep
}

async function applyStep(deps: ApplyResizeDeps, request: StepRequest, signal: AbortSignal): Promise<void> {
  const { pod, step } = request
  switch (step.kind) {
    case 'pod':
      return await resizePod(deps, { ...request, step }, signal)
    case 'container':
      return await resizeContainer(deps, pod, { step }, signal)
    case 'done':
      deps.allocations.notePod(pod, step.podResources)
  }
}

async function resizeContainer(
  deps: ApplyResizeDeps,
  pod: Pod,
  { step }: { readonly step: ResizeStep & { readonly kind: 'container' } },
  signal: AbortSignal,
): Promise<void> {
  const { id, name, resources } = step
  const found = findContainer(pod, name)
  const cpuset = await deps.placement.prepare(pod.metadata.uid, name)
  const linux = computeContainerResources({
    pod,
    podContainer: { ...found, container: { ...found.container, resources } },
    cpuset,
    settings: deps.node.container.resources,
  })
  const update = { containerId: id, linux, windows: undefined, annotations: {} }
  await deps.noteStep(`resize container "${name}"`, () => deps.calls.updateContainerResources(update, signal))
  deps.allocations.noteContainer(pod, name, resources)
}

/** The runtime is asked first and may fail; when the kernel fails, the runtime gets the old size back. */
async function resizePod(
  deps: ApplyResizeDeps,
  { pod, sandboxId, sizes, step }: StepRequest & { readonly step: ResizeStep & { readonly kind: 'pod' } },
  signal: AbortSignal,
): Promise<void> {
  const before = sizes.now
  const after = { ...before, ...step.values }
  const report = (size: PodSize) => reportSandbox(deps, { pod, sandboxId, size, resource: step.resource }, signal)
  await report(after)
  try {
    await deps.cgroups.write(pod, step.values)
  } catch (error) {
    await report(before).catch((failure: unknown) => {
      const { uid } = pod.metadata
      deps.log.warn('cannot report the old size of a pod to the runtime', { pod: podLogName(pod), uid, error: failure })
    })
    throw error
  }
  sizes.now = after
}

async function reportSandbox(
  { calls, node }: ApplyResizeDeps,
  reported: { readonly pod: Pod; readonly sandboxId: string; readonly size: PodSize; readonly resource: string },
  signal: AbortSignal,
): Promise<void> {
  const { pod, sandboxId, size, resource } = reported
  if (sandboxId === '') return
  const overhead = computeOverhead(pod, node.sandbox.cpu)
  const less = (amount: bigint | undefined, part: bigint) => (amount === undefined || amount <= 0n ? 0n : amount - part)
  const resources = {
    ...NO_LINUX_RESOURCES,
    cpuShares: less(size.cpuShares, overhead.cpuShares),
    cpuPeriod: size.cpuPeriod ?? 0n,
    cpuQuota: less(size.cpuQuota, overhead.cpuQuota),
    memoryLimitInBytes: less(size.memoryLimitBytes, overhead.memoryLimitInBytes),
  }
  try {
    await calls.updatePodSandboxResources({ podSandboxId: sandboxId, overhead, resources }, signal)
  } catch (error) {
    if (!(error instanceof CriCallError) || error.code === 'Unavailable') throw error
    // Runtimes that do not know the call have no need of it.
    if (error.code === 'Unimplemented' || error.detail.includes('not implemented')) return
    throw new PodResizeError(`the runtime refuses the pod's new size (${resource}): ${error.detail}`, { cause: error })
  }
}
