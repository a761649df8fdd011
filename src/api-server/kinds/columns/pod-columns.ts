import type { ContainerStatus, Pod } from '../../../model/generated/core-v1.ts'
import type { ObjectOf } from '../../store/api-object.ts'
import { ageOf, columnsOf, timeSince } from '../table-columns.ts'
import type { TableColumns } from '../table-columns.ts'

/** The rows of `kubectl get pods`. */
export const podColumns: TableColumns<ObjectOf<Pod>> = {
  columns: columnsOf(
    'Name',
    'Ready',
    'Status',
    'Restarts',
    'Age',
    'IP:wide',
    'Node:wide',
    'Nominated Node:wide',
    'Readiness Gates:wide',
  ),
  cells: (pod, now) => {
    const summary = summarize(pod)
    const ip = pod.status?.podIPs?.[0]?.ip || pod.status?.podIP
    return [
      pod.metadata.name ?? '',
      `${summary.ready}/${summary.total}`,
      statusWord(pod, summary),
      formatRestarts(summary, now),
      ageOf(pod, now),
      ip || '<none>',
      pod.spec?.nodeName || '<none>',
      pod.status?.nominatedNodeName || '<none>',
      readinessGates(pod),
    ]
  },
  conditions: ({ status }) => {
    const message = ENDS.get(status?.phase ?? '')
    return message === undefined ? [] : [{ type: 'Completed', status: 'True', reason: status?.phase ?? '', message }]
  },
}

/** The phases in which a pod is terminal, in words. */
const ENDS = new Map([
  ['Succeeded', 'The pod has completed successfully.'],
  ['Failed', 'The pod failed.'],
])

interface Summary {
  readonly total: number
  readonly ready: number
  readonly restarts: number
  /** When the last instance before the present ones ended. */
  readonly lastEnd: string | undefined
  /** What the containers say of the pod's state, if anything. */
  readonly word: string | undefined
}

function summarize(pod: Pod): Summary {
  const sidecars = new Set(
    (pod.spec?.initContainers ?? []).filter((each) => each.restartPolicy === 'Always').map(({ name }) => name),
  )
  const init = pod.status?.initContainerStatuses ?? []
  const main = pod.status?.containerStatuses ?? []
  const isSidecar = ({ name }: ContainerStatus) => sidecars.has(name)
  const initWord = initStatusWord(pod, isSidecar)
  const isInitialized = initWord === undefined || hasCondition(pod, 'Initialized')
  const counted = isInitialized ? [...init.filter(isSidecar), ...main] : init
  const ready = [...init.filter((each) => isSidecar(each) && each.started === true), ...(isInitialized ? main : [])]
  return {
    total: (pod.spec?.containers.length ?? 0) + sidecars.size,
    ready: ready.filter((each) => each.ready && (isSidecar(each) || each.state?.running !== undefined)).length,
    restarts: counted.reduce((sum, { restartCount }) => sum + restartCount, 0),
    lastEnd: latest(counted.map(({ lastState }) => lastState?.terminated?.finishedAt)),
    word: isInitialized ? (mainStatusWord(pod, main) ?? initWord) : initWord,
  }
}

/** What the first init container that is not done says; undefined when all are done. */
function initStatusWord(pod: Pod, isSidecar: (status: ContainerStatus) => boolean): string | undefined {
  for (const [index, status] of (pod.status?.initContainerStatuses ?? []).entries()) {
    const { terminated, waiting } = status.state ?? {}
    if (terminated?.exitCode === 0 || (isSidecar(status) && status.started === true)) continue
    if (terminated !== undefined) return `Init:${terminated.reason || endWord(terminated)}`
    if (waiting?.reason && waiting.reason !== 'PodInitializing') return `Init:${waiting.reason}`
    return `Init:${index}/${pod.spec?.initContainers?.length ?? 0}`
  }
  return undefined
}

/** The first container that waits or has ended gives the word. */
function mainStatusWord(pod: Pod, statuses: readonly ContainerStatus[]): string | undefined {
  let word: string | undefined
  for (const { state } of statuses.toReversed()) {
    if (state?.waiting?.reason) word = state.waiting.reason
    else if (state?.terminated) word = state.terminated.reason || endWord(state.terminated)
  }
  const runs = statuses.some(({ ready, state }) => ready && state?.running !== undefined)
  if (word === 'Completed' && runs) return hasCondition(pod, 'Ready') ? 'Running' : 'NotReady'
  return word
}

function endWord({ signal, exitCode }: { readonly signal?: number | undefined; readonly exitCode: number }): string {
  return signal ? `Signal:${signal}` : `ExitCode:${exitCode}`
}

function statusWord(pod: Pod, { word }: Summary): string {
  const phase = pod.status?.phase ?? ''
  if (pod.metadata?.deletionTimestamp !== undefined) {
    if (pod.status?.reason === 'NodeLost') return 'Unknown'
    if (phase !== 'Succeeded' && phase !== 'Failed') return 'Terminating'
  }
  const isGated = pod.status?.conditions?.some(
    ({ type, reason }) => type === 'PodScheduled' && reason === 'SchedulingGated',
  )
  return word ?? (isGated === true ? 'SchedulingGated' : pod.status?.reason || phase)
}

function formatRestarts({ restarts, lastEnd }: Summary, now: number): string {
  return restarts > 0 && lastEnd !== undefined ? `${restarts} (${timeSince(lastEnd, now)} ago)` : `${restarts}`
}

function latest(times: readonly (string | undefined)[]): string | undefined {
  return times
    .filter((time) => time !== undefined)
    .sort((a, b) => Date.parse(a) - Date.parse(b))
    .at(-1)
}

function hasCondition(pod: Pod, wanted: string): boolean {
  return pod.status?.conditions?.some(({ type, status }) => type === wanted && status === 'True') === true
}

function readinessGates(pod: Pod): string {
  const gates = pod.spec?.readinessGates ?? []
  if (gates.length === 0) return '<none>'
  return `${gates.filter(({ conditionType }) => hasCondition(pod, conditionType)).length}/${gates.length}`
}
