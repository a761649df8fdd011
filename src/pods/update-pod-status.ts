import { computeQosClass } from '../model/compute-qos-class.ts'
import type { ObservedPod } from '../model/observed-pod.ts'
import type { Pod } from '../model/pod.ts'
import { computePodStatus } from '../status/compute-pod-status.ts'
import type { StatusInput } from '../status/status-input.ts'
import type { PodProbes } from '../probes/pod-probes.ts'
import type { PodMemory } from './pod-memory.ts'
import type { PodRuntime } from './pod-runtime.ts'

const TERMINATION_MESSAGE_BYTES = 4096

export interface StatusUpdate {
  readonly pod: Pod
  readonly observed: ObservedPod
  readonly ended: boolean
  readonly override?: StatusInput['override']
}

export interface StatusContext {
  readonly runtime: PodRuntime
  readonly runtimeName: string
  readonly memory: PodMemory
  readonly probes: Pick<PodProbes, 'status'>
}

/** Computes the status of a pod anew and keeps it. */
export async function updatePodStatus(context: StatusContext, update: StatusUpdate): Promise<void> {
  const { runtime, runtimeName, memory, probes } = context
  const { pod, observed, ended, override } = update
  await readLastWords(runtime, observed, memory)
  memory.status = computePodStatus({
    pod,
    observed,
    previous: memory.status,
    waiting: memory.waiting,
    ...probes.status(pod, observed),
    lastWords: memory.lastWords,
    ended,
    runtimeName,
    nodeIps: runtime.node.container.ips,
    qosClass: computeQosClass(pod),
    override,
    now: runtime.clock.now(),
  })
}

/** Each end is read once, and forgotten with its container. */
async function readLastWords(runtime: PodRuntime, observed: ObservedPod, memory: PodMemory): Promise<void> {
  const exited = observed.containers.filter(({ state }) => state === 'exited')
  for (const id of memory.lastWords.keys())
    if (!exited.some((container) => container.id === id)) memory.lastWords.delete(id)
  for (const { id, terminationLog } of exited) {
    if (memory.lastWords.has(id)) continue
    memory.lastWords.set(
      id,
      terminationLog === '' ? '' : await runtime.files.readTerminationLog(terminationLog, TERMINATION_MESSAGE_BYTES),
    )
  }
}
