import type { NodeCondition } from '../../../model/generated/core-v1.ts'
import type { NodeFacts } from './node-facts.ts'

interface ConditionWish {
  readonly type: string
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
  /** The reason of the event that tells of the change. */
  readonly event: string
}

/** The conditions of the node, and the reasons of the events that tell what changed. */
export interface ConditionsOutcome {
  readonly conditions: readonly NodeCondition[]
  readonly events: readonly string[]
}

/** Brings the conditions up to date: those that are there stay in their place, and keep the time of their last change. */
export function computeNodeConditions(
  before: readonly NodeCondition[],
  facts: Pick<NodeFacts, 'pressures' | 'problems'>,
  time: string,
): ConditionsOutcome {
  const { memory, disk, pid } = facts.pressures
  const pressures = [memoryWish(memory), diskWish(disk), pidWish(pid)].map((wish) =>
    applyWish(find(before, wish.type), wish, { time, keepsWords: true }),
  )
  const ready = readyWish(facts.problems)
  const earlier = find(before, 'Ready')
  const outcome = applyWish(earlier, ready, { time, keepsWords: false })
  return {
    conditions: merge(before, [...pressures.map(({ condition }) => condition), outcome.condition]),
    events: [
      ...pressures.flatMap(({ event }) => event),
      // Whoever makes the Node object need not tell that it is ready.
      ...(earlier === undefined ? [] : outcome.event),
    ],
  }
}

function applyWish(
  before: NodeCondition | undefined,
  { event, ...wish }: ConditionWish,
  { time, keepsWords }: { readonly time: string; readonly keepsWords: boolean },
): { readonly condition: NodeCondition; readonly event: readonly string[] } {
  if (before?.status !== wish.status) {
    return { condition: { ...wish, lastHeartbeatTime: time, lastTransitionTime: time }, event: [event] }
  }
  const condition = keepsWords ? before : { ...before, ...wish }
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

function memoryWish(pressed: boolean): ConditionWish {
  const amount = pressed ? 'Insufficient' : 'Sufficient'
  return {
    type: 'MemoryPressure',
    status: pressed ? 'True' : 'False',
    reason: `KubeletHas${amount}Memory`,
    message: `kubelet has ${amount.toLowerCase()} memory available`,
    event: `NodeHas${amount}Memory`,
  }
}

function diskWish(pressed: boolean): ConditionWish {
  const amount = pressed ? '' : 'No'
  return {
    type: 'DiskPressure',
    status: pressed ? 'True' : 'False',
    reason: `KubeletHas${amount}DiskPressure`,
    message: pressed ? 'kubelet has disk pressure' : 'kubelet has no disk pressure',
    event: `NodeHas${amount}DiskPressure`,
  }
}

function pidWish(pressed: boolean): ConditionWish {
  const amount = pressed ? 'Insufficient' : 'Sufficient'
  return {
    type: 'PIDPressure',
    status: pressed ? 'True' : 'False',
    reason: `KubeletHas${amount}PID`,
    message: `kubelet has ${amount.toLowerCase()} PID available`,
    event: `NodeHas${amount}PID`,
  }
}

function readyWish(problems: readonly string[]): ConditionWish {
  const [first, ...others] = new Set(problems)
  if (first === undefined) {
    const message = 'kubelet is posting ready status'
    return { type: 'Ready', status: 'True', reason: 'KubeletReady', message, event: 'NodeReady' }
  }
  const message = others.length === 0 ? first : `[${[first, ...others].join(', ')}]`
  return { type: 'Ready', status: 'False', reason: 'KubeletNotReady', message, event: 'NodeNotReady' }
}
