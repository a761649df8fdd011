import type { PodUid } from '../../model/pod/pod.ts'

/** Where the agent keeps the files of one pod. */
export interface PodPaths {
  readonly directory: string
  readonly etcHosts: string
  /** Has a directory for each container. */
  readonly containers: string
}

/** The Go kubelet's own places, so that either agent finds the other's files. */
export function computePodPaths(rootDirectory: string, uid: PodUid): PodPaths {
  const directory = `${rootDirectory}/pods/${uid}`
  return { directory, etcHosts: `${directory}/etc-hosts`, containers: `${directory}/containers` }
}

/** The file that takes an instance's termination message; the number is random for each instance, so none reads another's. */
export function terminationLogPath(paths: PodPaths, containerName: string, random32: number): string {
  return `${paths.containers}/${containerName}/${(random32 >>> 0).toString(16).padStart(8, '0')}`
}
