import type { ContainerStatus, Pod } from '../../model/generated/core-v1.ts'
import type { PodRow } from './page-message.ts'

/** Of the mirror of a static pod: the uid that the pod itself has. */
const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror'

/** How the message of a pod begins that a kubelet did not let in. */
const REJECTED = 'Pod was rejected: '

/** By what the agent knows a pod. */
export function computeAgentUid({ metadata = {} }: Pod): string {
  return metadata.annotations?.[MIRROR_ANNOTATION] ?? metadata.uid ?? ''
}

/** A pod as the table of the page shows it. */
export function computePodRow(pod: Pod): PodRow {
  const { metadata = {}, spec, status = {} } = pod
  const statuses = status.containerStatuses ?? []
  const all = [...(status.initContainerStatuses ?? []), ...statuses]
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always')
  const names = new Set([...(spec?.containers ?? []), ...sidecars].map(({ name }) => name))
  const isReady = status.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false
  return {
    uid: computeAgentUid(pod),
    namespace: metadata.namespace ?? 'default',
    name: metadata.name ?? '',
    status: metadata.deletionTimestamp === undefined ? computeStatus(pod, isReady) : 'Terminating',
    phase: status.phase ?? 'Unknown',
    ready: all.filter(({ name, ready }) => ready && names.has(name)).length,
    containers: names.size,
    isReady,
    isRejected: status.phase === 'Failed' && (status.message?.startsWith(REJECTED) ?? false),
    restarts: all.reduce((sum, { restartCount }) => sum + restartCount, 0),
    // A static pod that only its kubelet knows was never created in an API.
    created: metadata.creationTimestamp ?? status.startTime ?? '',
    address: status.podIP ?? '',
    note: computeNote(pod),
  }
}

/** The word for its state that says most: of the first container that holds it up, else its own. */
function computeStatus({ spec, status = {} }: Pod, isReady: boolean): string {
  const { phase = 'Unknown', reason } = status
  if (reason !== undefined && reason !== '') return reason
  const inits = status.initContainerStatuses ?? []
  const done = inits.filter(({ state }) => state?.terminated?.exitCode === 0).length
  const stuck = inits.find(({ state, started }) => state?.terminated?.exitCode !== 0 && started !== true)
  if (phase === 'Pending' && stuck !== undefined) {
    const word = wordOf(stuck)
    return word === undefined || word === 'PodInitializing'
      ? `Init:${done}/${spec?.initContainers?.length ?? inits.length}`
      : `Init:${word}`
  }
  const words = (status.containerStatuses ?? []).flatMap((each) => wordOf(each) ?? [])
  const bad = words.find((word) => word !== 'Completed')
  if (bad !== undefined) return bad
  if (words.length > 0 && phase !== 'Running') return 'Completed'
  return phase === 'Running' && !isReady && words.length > 0 ? 'NotReady' : phase
}

function wordOf({ state }: ContainerStatus): string | undefined {
  const { waiting, terminated } = state ?? {}
  if (waiting !== undefined) return waiting.reason ?? 'Waiting'
  if (terminated === undefined) return undefined
  return terminated.reason ?? `ExitCode:${terminated.exitCode}`
}

function computeNote({ spec, status = {} }: Pod): string {
  if (status.message !== undefined && status.message !== '') return status.message
  const scheduled = status.conditions?.find(({ type }) => type === 'PodScheduled')
  if (spec?.nodeName === undefined || spec.nodeName === '')
    return scheduled?.message ? `Waits for the node: ${scheduled.message}` : 'Waits for the scheduler'
  const all = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]
  const waiting = all.find(({ state }) => state?.waiting?.message !== undefined)
  return waiting?.state?.waiting?.message ?? ''
}
