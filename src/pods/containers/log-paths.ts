import type { Pod } from '../../model/pod/pod.ts'

/** What the places of a pod's logs depend on; known also of a pod whose spec is lost. */
interface PodIdentity {
  readonly metadata: Pick<Pod['metadata'], 'name' | 'namespace' | 'uid'>
}

export const CONTAINER_LOGS_DIRECTORY = '/var/log/containers'
// What ext4 and most other file systems take as one name.
const LONGEST_FILE_NAME = 255
const LOG_SUFFIX = '.log'

/** The directory with all logs of one pod. */
export function podLogDirectory(podLogsDirectory: string, pod: PodIdentity): string {
  const { namespace, name, uid } = pod.metadata
  return `${podLogsDirectory}/${namespace}_${name}_${uid}`
}

/** A container's log, relative to the directory of its pod. */
export function containerLogPath(containerName: string, restartCount: number): string {
  return `${containerName}/${restartCount}${LOG_SUFFIX}`
}

/** The link under which log shippers look for a container's log; long names lose their end. */
export function containerLogSymlink(pod: PodIdentity, containerName: string, containerId: string): string {
  const { namespace, name } = pod.metadata
  const full = `${name}_${namespace}_${containerName}-${containerId}`
  return `${CONTAINER_LOGS_DIRECTORY}/${full.slice(0, LONGEST_FILE_NAME - LOG_SUFFIX.length)}${LOG_SUFFIX}`
}
