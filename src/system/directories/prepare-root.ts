import { mkdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'

/** Makes the agent's own directory, where pods have theirs, and returns its path without links: the kernel knows mounts by no other. */
export async function prepareRoot(directory: string): Promise<string> {
  await mkdir(join(directory, 'pods'), { recursive: true, mode: 0o750 })
  return await realpath(directory)
}
