import type { Clock } from '../../base/async/clock.ts'
import { namedCgroupPath, qosCgroupPaths, rootCgroupPath } from '../../model/resources/cgroup-names.ts'
import type { CgroupLayout } from '../../model/resources/cgroup-names.ts'
import type { ResourceAmounts } from '../../model/resources/compute-pod-requests.ts'
import type { NodeEvents } from '../../model/events/node-events.ts'
import type { CgroupDriver } from './cgroup-driver.ts'
import type { CgroupValues } from '../../model/resources/cgroup-values.ts'
import { computeAmountsCgroup, computePodsAmounts } from './compute-node-cgroups.ts'
import type { NodeAmounts } from './compute-node-cgroups.ts'
import { errorMessage } from '../../base/telemetry/error-text.ts'

export interface NodeCgroupsDeps {
  readonly layout: CgroupLayout
  readonly driver: CgroupDriver
  readonly amounts: NodeAmounts
  /** The entries of enforceNodeAllocatable. */
  readonly enforced: readonly string[]
  /** The cgroups of the configuration for what is reserved; '' when there is none. */
  readonly reservedCgroups: { readonly system: string; readonly kube: string }
  /** The CPUs of all pods together; undefined when another part sets them. */
  readonly cpus: string | undefined
  /** Reserved memory is also protected from being taken back. */
  readonly protectsReserved: boolean
  readonly events: NodeEvents
  readonly clock: Clock
}

const RETRY_MS = 60_000

/** Makes the cgroup of all pods, and limits those of the system where configured. An error here fails the start. */
export async function startNodeCgroups(deps: NodeCgroupsDeps): Promise<void> {
  const { layout, driver } = deps
  const root = rootCgroupPath(layout)
  if (!driver.exists(root)) {
    if (layout.driver === 'cgroupfs')
      throw new Error(`Cannot use cgroupRoot "${root}": no such cgroup, expected one that is there`)
    // A slice is there only while systemd has started it: none can be made beforehand as a folder.
    await driver.make(root, {})
  }
  if (layout.perQos) {
    const [pods = root] = qosCgroupPaths(layout)
    if (driver.missing(pods).length > 0) await driver.make(pods, podsValues(deps))
  }
  for (const [entry, kind, cpuOnly] of RESERVED) {
    if (deps.enforced.includes(entry)) await enforceReserved(deps, { kind, cpuOnly })
  }
}

/**
 * Writes the limits of all pods together, and retries until the kernel accepts them: it rejects a limit below the current usage until
 * enough pods are evicted.
 */
export async function runNodeCgroups(deps: NodeCgroupsDeps, signal: AbortSignal): Promise<void> {
  const { layout, driver, events, clock } = deps
  if (!layout.perQos) return
  const [pods = '/'] = qosCgroupPaths(layout)
  for (;;) {
    try {
      await driver.update(pods, podsValues(deps))
      events.record({ type: 'Normal', reason: SUCCESS, message: 'Updated Node Allocatable limit across pods' })
      return
    } catch (error) {
      signal.throwIfAborted()
      const message = `Failed to update Node Allocatable Limits "${pods}": ${errorMessage(error)}`
      events.record({ type: 'Warning', reason: FAILURE, message })
    }
    await clock.sleep(RETRY_MS, signal)
  }
}

const SUCCESS = 'NodeAllocatableEnforced'
const FAILURE = 'FailedNodeAllocatableEnforcement'
const RESERVED = [
  ['system-reserved', 'system', false],
  ['kube-reserved', 'kube', false],
  ['system-reserved-compressible', 'system', true],
  ['kube-reserved-compressible', 'kube', true],
] as const

function podsValues({ amounts, enforced, cpus }: NodeCgroupsDeps): CgroupValues {
  const values = computeAmountsCgroup(computePodsAmounts(amounts, enforced.includes('pods')), { cpuOnly: false })
  return { ...values, cpus }
}

async function enforceReserved(
  deps: NodeCgroupsDeps,
  { kind, cpuOnly }: { readonly kind: 'system' | 'kube'; readonly cpuOnly: boolean },
): Promise<void> {
  const { layout, driver, amounts, reservedCgroups, events } = deps
  const cgroup = namedCgroupPath(reservedCgroups[kind], layout)
  try {
    if (!driver.exists(cgroup)) throw new Error('no such cgroup, expected one that is there')
    await driver.update(cgroup, reservedValues(deps, amounts[kind], cpuOnly))
  } catch (cause) {
    const what = `${kind === 'system' ? 'System' : 'Kube'} Reserved${cpuOnly ? ' Compressible' : ''}`
    const message = `Failed to enforce ${what} Cgroup Limits on "${cgroup}": ${errorMessage(cause)}`
    events.record({ type: 'Warning', reason: FAILURE, message })
    throw new Error(`Cannot enforce ${kind}Reserved on cgroup "${cgroup}": ${errorMessage(cause)}`, { cause })
  }
  const message = `Updated limits on ${kind} reserved cgroup ${cgroup}`
  events.record({ type: 'Normal', reason: SUCCESS, message })
}

function reservedValues(deps: NodeCgroupsDeps, reserved: ResourceAmounts, cpuOnly: boolean): CgroupValues {
  const values = computeAmountsCgroup(reserved, { cpuOnly })
  const { memoryLimitBytes } = values
  return {
    ...values,
    cpus: deps.cpus,
    ...(deps.protectsReserved && memoryLimitBytes !== undefined ? { memoryMinBytes: memoryLimitBytes } : {}),
  }
}
