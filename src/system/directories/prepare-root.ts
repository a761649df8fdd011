import { realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { makeFolder } from '../files/state/durable-file.ts'

/**
 * Makes the agent's own directory, where pods have theirs, and the one of their logs, which are not for every user of the machine.
 * Returns its path without links: the kernel knows mounts by no other.
 */
export async function prepareRoot(directory: string, podLogsDirectory: string): Promise<string> {
  await makeFolder(join(directory, 'pods'), 0o750)
  // Without it the agent can still look after what runs; a pod that is to start says what is wrong.
  await makeFolder(dirname(podLogsDirectory))
    .then(() => makeFolder(podLogsDirectory, 0o750))
    .catch(() => {})
  return await realpath(directory)
}
