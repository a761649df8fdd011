import { CriCallError } from './cri-call-error.ts'

const POD_UID_LABEL = 'io.kubernetes.pod.uid'

/** Chooses what belongs to one pod. */
export interface PodFilter {
  readonly labelSelector: Record<string, string>
}

/** Neither runtimes nor clients take messages of more than 16 MiB. */
export function isTooLarge(error: unknown): boolean {
  return error instanceof CriCallError && error.code === 'ResourceExhausted'
}

/** What belongs to a pod, by the label that every part of it has. */
export function podFilter(uid: string): PodFilter {
  return { labelSelector: { [POD_UID_LABEL]: uid } }
}

/** A list of the runtime as a whole or, where that is too large to be sent, one pod after the other. */
export async function listByPod<T>(
  uids: readonly string[],
  list: (filter: PodFilter | undefined) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  try {
    return await list(undefined)
  } catch (error) {
    if (!isTooLarge(error)) throw error
  }
  const found: T[] = []
  for (const uid of uids) found.push(...(await list(podFilter(uid))))
  return found
}
