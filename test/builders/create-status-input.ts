import type { ContainerStatus, PodSpec, PodStatus } from '../../src/model/generated/core-v1.ts'
import type { StatusInput } from '../../src/pods/status/status-input.ts'
import { createObservedPod } from './create-observed-pod.ts'
import { createPod } from './create-pod.ts'

/** Midnight of 2026-01-01, and how the API writes it. */
export const STATUS_NOW = Date.UTC(2026, 0, 1)
export const STATUS_NOW_TEXT = '2026-01-01T00:00:00Z'

/** All that a status needs, of a pod of which only a sandbox was made. */
export function createStatusInput(parts: Partial<StatusInput> = {}): StatusInput {
  return {
    pod: createPod(),
    observed: createObservedPod(),
    previous: undefined,
    waiting: new Map(),
    started: new Map(),
    ready: new Map(),
    terminationMessages: new Map(),
    actuated: undefined,
    deviceHealth: new Map(),
    resize: [],
    reportsSandbox: true,
    imageVolumeDigests: false,
    ended: false,
    runtimeName: 'containerd',
    nodeIps: ['192.168.0.1'],
    qosClass: 'BestEffort',
    now: STATUS_NOW,
    ...parts,
  }
}

/** As createStatusInput(), of a pod with this spec and this status before. */
export function createSpecInput(
  spec: Partial<PodSpec>,
  parts: Partial<StatusInput> & { readonly previously?: PodStatus } = {},
): StatusInput {
  const { previously, ...rest } = parts
  return createStatusInput({ pod: createPod({ spec }), previous: previously, ...rest })
}

/** The status of a container as it was reported before. */
export function createContainerStatus(parts: Partial<ContainerStatus> = {}): ContainerStatus {
  return { name: 'main', ready: false, restartCount: 0, image: 'registry.test/app:1', imageID: '', ...parts }
}
