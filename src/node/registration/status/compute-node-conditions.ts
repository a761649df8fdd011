import type { NodeCondition } from '../../../model/generated/core-v1.ts'
import type { NodeInfo } from './node-info.ts'

interface DesiredCondition {
  readonly type: string
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
  /** The reason of the event that reports the change. */
  readonly event: string
}

/** The conditions of the node, and the reasons of the events that report what changed. */
export interface ConditionsOutcome {
  readonly conditions: readonly NodeCondition[]
  readonly events: readonly string[]
}

/** Updates the conditions: existing ones stay in their place, and keep the time of their last change. */
export function computeNodeConditions(
  before: readonly NodeCondition[],
  info: Pick<NodeInfo, 'pressures' | 'problems'>,
  time: string,
): ConditionsOutcome {
  const { memory, disk, pid } = info.pressures
  const pressures = [desiredMemory(memory), desiredDisk(disk), desiredPid(pid)].map((desired) =>
    applyDesired(find(before, desired.type), desired, { time, keepsMessage: true }),
  )
  const ready = desiredReady(info.problems)
  const earlier = find(before, 'Ready')
  const outcome = applyDesired(earlier, ready, { time, keepsMessage: false })
  return {
    conditions: merge(before, [...pressures.map(({ condition }) => condition), outcome.condition]),
    events: [
      ...pressures.flatMap(({ event }) => event),
      // A Node object that is created with this call needs no event for becoming ready.
      ...(earlier === undefined ? [] : outcome.event),
    ],
  }
}

function applyDesired(
  before: NodeCondition | undefined,
  { event, ...desired }: DesiredCondition,
  { time, keepsMessage }: { readonly time: string; readonly keepsMessage: boolean },
): { readonly condition: NodeCondition; readonly event: readonly string[] } {
  if (before?.status !== desired.status) {
    return { condition: { ...desired, lastHeartbeatTime: time, lastTransitionTime: time }, event: [event] }
  }
  const condition = keepsMessage ? before : { ...before, ...desired }
  return { condition: { ...condition, lastHeartbeatTime: time }, event: [] }
}

/** Ready comes last among those that are new: old readers of the list rely on it. */
function merge(before: readonly NodeCondition[], now: readonly NodeCondition[]): readonly NodeCondition[] {
  return [
    ...before.map((condition) => find(now, condition.type) ?? condition),
    ...now.filter(({ type }) => find(before, type) === undefined),
  ]
}

function find(conditions: readonly NodeCondition[], type: string): NodeCondition | undefined {
  return conditions.find((condition) => condition.type === type)
}

function desiredMemory(pressed: boolean): DesiredCondition {
  const amount = pressed ? 'Insufficient' : 'Sufficient'
  return {
    type: 'MemoryPressure',
    status: pressed ? 'True' : 'False',
    reason: `KubeletHas${amount}Memory`,
    message: `kubelet has ${amount.toLowerCase()} memory available`,
    event: `NodeHas${amount}Memory`,
  }
}

function desiredDisk(pressed: boolean): DesiredCondition {
  const amount = pressed ? '' : 'No'
  return {
    type: 'DiskPressure',
    status: pressed ? 'True' : 'False',
    reason: `KubeletHas${amount}DiskPressure`,
    message: pressed ? 'kubelet has disk pressure' : 'kubelet has no disk pressure',
    event: `NodeHas${amount}DiskPressure`,
  }
}

function desiredPid(pressed: boolean): DesiredCondition {
  const amount = pressed ? 'Insufficient' : 'Sufficient'
  return {
    type: 'PIDPressure',
    status: pressed ? 'True' : 'False',
    reason: `KubeletHas${amount}PID`,
    message: `kubelet has ${amount.toLowerCase()} PID available`,
    event: `NodeHas${amount}PID`,
  }
}

function desiredReady(problems: readonly string[]): DesiredCondition {
  const [first, ...others] = new Set(problems)
  if (first === undefined) {
    const message = 'kubelet is posting ready status'
    return { type: 'Ready', status: 'True', reason: 'KubeletReady', message, event: 'NodeReady' }
  }
  const message = others.length === 0 ? first : `[${[first, ...others].join(', ')}]`
  return { type: 'Ready', status: 'False', reason: 'KubeletNotReady', message, event: 'NodeNotReady' }
}
