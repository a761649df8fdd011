import type { ContainerState, ContainerStatus } from '../../model/generated/core-v1.ts'
import type { ObservedContainer } from '../../model/pod/observed-pod.ts'
import { cutUtf8 } from '../../model/text/utf8-bytes.ts'

// What all messages of one pod may take together: its status has to fit into the API.
const POD_MESSAGE_BYTES = 12 * 1024

/** Should the log speak for a container that failed without a last word? */
export function usesLog(
  policy: string | undefined,
  instance: Pick<ObservedContainer, 'exitCode' | 'reason'>,
  terminationMessages: string,
): boolean {
  const failed = instance.exitCode !== 0 && instance.reason !== 'ContainerCannotRun'
  return policy === 'FallbackToLogsOnError' && failed && terminationMessages === ''
}

/** What the runtime says about an end, and what the container itself said. */
export function computeTerminationMessage(runtimeMessage: string, terminationMessages: string): string {
  return [runtimeMessage, terminationMessages].filter((text) => text !== '').join(': ')
}

/** The same statuses; no message is longer than its share of what a pod may say. */
export function shareTerminationMessages(
  statuses: readonly ContainerStatus[],
  containersOfPod: number,
): ContainerStatus[] {
  const maxBytes = Math.floor(POD_MESSAGE_BYTES / Math.max(1, containersOfPod))
  return statuses.map((status) => ({
    ...status,
    ...(status.state === undefined ? {} : { state: cutMessage(status.state, maxBytes) }),
    ...(status.lastState === undefined ? {} : { lastState: cutMessage(status.lastState, maxBytes) }),
  }))
}

function cutMessage(state: ContainerState, maxBytes: number): ContainerState {
  const { terminated } = state
  if (terminated?.message === undefined) return state
  return { ...state, terminated: { ...terminated, message: cutUtf8(terminated.message, maxBytes) } }
}
