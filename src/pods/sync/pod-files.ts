import type { PodUid } from '../../model/pod/pod.ts'

/** The files of pods on the node, as far as the workers need them. */
export interface PodFiles {
  /** Makes directories that may be there already. */
  makeDirectories(paths: readonly string[]): Promise<void>
  /** Names of the files in a directory; none when it does not exist. */
  listNames(directory: string): Promise<readonly string[]>
  readNodeHosts(): Promise<string>
  writeHosts(path: string, text: string): Promise<void>
  /** An empty file that any user of the container may write to. */
  makeTerminationLog(path: string): Promise<void>
  /** The end of what a container left as its last words; empty when there is nothing. */
  readTerminationLog(path: string, maxBytes: number): Promise<string>
  /** The end of a container's log; empty when there is none. */
  readLogTail(path: string, maxBytes: number): Promise<Uint8Array>
  /** Does nothing when there is no log file to point at. */
  linkLog(link: string, target: string): Promise<void>
  /** Removes a container's log, what was rotated of it, and the link to it. */
  removeLogs(logPath: string, link: string): Promise<void>
  /** Removes what the agent itself made for a pod; never what is inside a volume. */
  removePod(uid: PodUid, logDirectory: string | undefined): Promise<void>
}
