import assert from 'node:assert/strict'
import type { Container, PodSpec } from '../../src/model/generated/core-v1.ts'
import type { ObservedContainer, ObservedSandbox } from '../../src/model/pod/observed-pod.ts'
import { allContainers } from '../../src/model/pod/pod-containers.ts'
import type { CrashBackOff } from '../../src/pods/sync/decide/compute-crash-back-off.ts'
import { crashBackOffKey } from '../../src/pods/sync/decide/compute-crash-back-off.ts'
import { computePodActions } from '../../src/pods/sync/decide/compute-pod-actions.ts'
import type { ContainerStart, PodActions } from '../../src/pods/sync/decide/pod-actions.ts'
import { createInstance, createObservedPod, createObservedSandbox } from './create-observed-pod.ts'
import { createContainer, createPod } from './create-pod.ts'

/** One case of a decision about a pod: the pod of createPod() with these changes. */
export interface PodActionsRow {
  readonly spec?: Partial<PodSpec>
  readonly deleted?: boolean
  /** A ready one by default. */
  readonly sandboxes?: readonly ObservedSandbox[]
  readonly has?: readonly ObservedContainer[]
  /** Ids of instances whose liveness probe failed. */
  readonly notAlive?: readonly string[]
  /** By the name of the container. */
  readonly backOff?: Readonly<Record<string, CrashBackOff>>
  readonly expected: PodActions
}

const ENDED_AT = 5000
const NOW = 20_000

/** Nothing is to be done; the rows say what else. */
export const kept: PodActions = {
  killPod: false,
  createSandbox: false,
  sandboxId: 's0',
  attempt: 0,
  kill: [],
  reset: undefined,
  resize: undefined,
  start: [],
  backingOff: [],
  ended: false,
}
export const renewed: PodActions = { ...kept, killPod: true, createSandbox: true, attempt: 1 }
export const deadSandbox = [createObservedSandbox({ ready: false, ips: [] })]

export const container = (name: string, parts: Partial<Container> = {}) => createContainer({ name, ...parts })
export const sidecar = (name: string) => container(name, { restartPolicy: 'Always' })
export const exited = (name: string, exitCode = 0, parts: Partial<ObservedContainer> = {}) =>
  createInstance({ name, state: 'exited', exitCode, finishedAt: ENDED_AT, ...parts })

export function start(
  name: string,
  kind: ContainerStart['kind'] = 'regular',
  previousEndedAt?: number,
): ContainerStart {
  return { kind, name, previousEndedAt }
}

export function checkPodActions(row: PodActionsRow): void {
  const { spec = {}, deleted = false, sandboxes, has = [], notAlive = [], backOff = {}, expected } = row
  const pod = createPod({ metadata: deleted ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}, spec })
  const actions = computePodActions({
    pod,
    observed: createObservedPod({ containers: has, ...(sandboxes === undefined ? {} : { sandboxes }) }),
    probes: { startup: new Map(), liveness: new Map(notAlive.map((id) => [id, false])) },
    backOff: new Map(
      allContainers(pod).flatMap(({ container: { name, ...rest } }) => {
        const entry = backOff[name]
        return entry === undefined ? [] : [[crashBackOffKey({ name, ...rest }), entry] as const]
      }),
    ),
    actuated: undefined,
    failedStarts: new Set(),
    now: NOW,
  })
  assert.deepEqual(actions, expected)
}
