import type { ResourceRequirements } from '../../../model/generated/core-v1.ts'
import type { PodAllocation } from '../../../model/resources/pod-allocation.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import { parseQuantity, quantityValue } from '../../../model/resources/quantity.ts'
import type { ContainerResizeAction, PodResizeActions } from '../decide/pod-actions.ts'
import { effectiveResources } from './compute-container-resize.ts'
import type { ResizedResource } from './compute-container-resize.ts'

/** The values of a pod's own cgroup that a resize changes; undefined is no limit. */
export interface PodSize {
  readonly cpuShares: bigint | undefined
  readonly cpuQuota: bigint | undefined
  readonly cpuPeriod: bigint | undefined
  readonly memoryLimitBytes: bigint | undefined
}

/** Values that change. */
type PodSizeChange = Partial<PodSize> & { readonly cpuShares?: bigint }

/** How much memory is in use, as far as is known. */
export interface MemoryUsage {
  readonly pod: bigint | undefined
  /** By container name. */
  readonly containers: ReadonlyMap<string, bigint>
}

export interface ResizePlanInput {
  /** With the resources that it was granted. */
  readonly pod: Pod
  readonly actions: PodResizeActions
  readonly actuated: PodAllocation
  /** Undefined for a pod without a cgroup of its own. */
  readonly current: PodSize | undefined
  readonly wanted: PodSize
  readonly usage: MemoryUsage
}

/** One change; a resize is a list of them in an order in which the whole pod never has less than its parts need. */
export type ResizeStep =
  | { readonly kind: 'pod'; readonly resource: ResizedResource; readonly values: PodSizeChange }
  | {
      readonly kind: 'container'
      readonly id: string
      readonly name: string
      /** All that the container has after this step. */
      readonly resources: ResourceRequirements
    }
  | { readonly kind: 'done'; readonly podResources: ResourceRequirements | undefined }

export type ResizePlan =
  | { readonly kind: 'steps'; readonly steps: readonly ResizeStep[] }
  /** Nothing must be changed now. */
  | { readonly kind: 'infeasible'; readonly message: string }

const RESIZED: readonly ResizedResource[] = ['memory', 'cpu']

/** How a pod that runs comes to the size that it was granted; memory first. */
export function computeResizePlan(input: ResizePlanInput): ResizePlan {
  const problems = findMemoryProblems(input)
  if (problems.length > 0) {
    const list = problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`
    return { kind: 'infeasible', message: `cannot decrease memory limits: ${list}` }
  }
  return { kind: 'steps', steps: RESIZED.flatMap((resource) => stepsFor(input, resource)) }
}

function stepsFor(input: ResizePlanInput, resource: ResizedResource): readonly ResizeStep[] {
  const { pod, current, wanted, actuated } = input
  const limit = current === undefined ? undefined : limitStep(resource, current, wanted)
  const weight = current === undefined || resource === 'memory' ? undefined : weightStep(current, wanted)
  const updates = input.actions.updates.filter((update) => update[resource] !== undefined)
  const inOrder = [
    ...updates.filter((update) => update[resource] === 'shrinks'),
    ...updates.filter((update) => update[resource] === 'grows'),
  ]
  const podResources = mixResources(actuated.pod, pod.spec.resources, resource)
  return [
    ...(limit?.direction === 'grows' ? [limit.step] : []),
    ...(weight?.direction === 'grows' ? [weight.step] : []),
    ...inOrder.map((update) => containerStep(input, update, resource)),
    ...(weight?.direction === 'shrinks' ? [weight.step] : []),
    ...(limit?.direction === 'shrinks' ? [limit.step] : []),
    { kind: 'done', podResources },
  ]
}

interface DirectedStep {
  readonly direction: 'grows' | 'shrinks'
  readonly step: ResizeStep
}

/** A limit that is not wanted any more stays: taking one away is not possible. */
function limitStep(resource: ResizedResource, current: PodSize, wanted: PodSize): DirectedStep | undefined {
  const [before, after] =
    resource === 'cpu'
      ? [bounded(current.cpuQuota), wanted.cpuQuota]
      : [bounded(current.memoryLimitBytes), wanted.memoryLimitBytes]
  if (after === undefined || before === bounded(after)) return undefined
  const grows = before !== undefined && (bounded(after) === undefined || after > before)
  const values: PodSizeChange =
    resource === 'cpu' ? { cpuQuota: after, cpuPeriod: wanted.cpuPeriod } : { memoryLimitBytes: after }
  return { direction: grows ? 'grows' : 'shrinks', step: { kind: 'pod', resource, values } }
}

function weightStep(current: PodSize, wanted: PodSize): DirectedStep | undefined {
  const [before, after] = [current.cpuShares, wanted.cpuShares]
  if (after === undefined || before === after) return undefined
  const direction = before === undefined || after > before ? 'grows' : 'shrinks'
  return { direction, step: { kind: 'pod', resource: 'cpu', values: { cpuShares: after } } }
}

// The kernel writes no limit as -1 or as a number that no machine has.
const NO_MEMORY_LIMIT = 2n ** 62n

function bounded(limit: bigint | undefined): bigint | undefined {
  return limit === undefined || limit <= 0n || limit >= NO_MEMORY_LIMIT ? undefined : limit
}

/** While memory changes the CPU stays as it is; then it changes too. */
function containerStep(
  { pod, actuated }: ResizePlanInput,
  { id, name }: ContainerResizeAction,
  resource: ResizedResource,
): ResizeStep {
  const container = [...(pod.spec.initContainers ?? []), ...pod.spec.containers].find((each) => each.name === name)
  const wanted = effectiveResources(container?.resources, pod.spec.resources)
  const actual = effectiveResources(actuated.containers.get(name), actuated.pod)
  return { kind: 'container', id, name, resources: mixResources(actual, wanted, resource) ?? {} }
}

/** What was wanted of memory, and of the CPU what was there before unless it is its turn. */
function mixResources(
  before: ResourceRequirements | undefined,
  after: ResourceRequirements | undefined,
  resource: ResizedResource,
): ResourceRequirements | undefined {
  if (after === undefined || resource === 'cpu') return after
  const mix = (side: 'requests' | 'limits') => {
    const { cpu: _, ...others } = after[side] ?? {}
    const cpu = before?.[side]?.['cpu']
    return { ...others, ...(cpu === undefined ? {} : { cpu }) }
  }
  return { ...after, requests: mix('requests'), limits: mix('limits') }
}

/** Less than what is in use would end processes. */
function findMemoryProblems({ pod, actions, actuated, current, wanted, usage }: ResizePlanInput): readonly string[] {
  const problems: string[] = []
  const limit = current === undefined ? undefined : limitStep('memory', current, wanted)
  if (limit?.direction === 'shrinks') {
    const problem = judge('pod', wanted.memoryLimitBytes ?? 0n, usage.pod)
    if (problem !== undefined) problems.push(problem)
  }
  for (const { name, memory } of actions.updates) {
    if (memory !== 'shrinks') continue
    const container = [...(pod.spec.initContainers ?? []), ...pod.spec.containers].find((each) => each.name === name)
    const after = memoryLimit(effectiveResources(container?.resources, pod.spec.resources))
    const before = memoryLimit(effectiveResources(actuated.containers.get(name), actuated.pod))
    if (after === 0n || after === before) continue
    const problem = judge(`container "${name}"`, after, usage.containers.get(name))
    if (problem !== undefined) problems.push(problem)
  }
  return problems
}

function judge(whose: string, limit: bigint, usage: bigint | undefined): string | undefined {
  if (usage === undefined) return `missing ${whose} memory usage`
  return usage < limit ? undefined : `attempting to set ${whose} memory limit (${limit}) below current usage (${usage})`
}

function memoryLimit({ limits }: ResourceRequirements): bigint {
  return quantityValue(parseQuantity(limits?.['memory'] ?? '0'))
}
