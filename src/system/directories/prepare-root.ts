import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder } from '../files/durable-file.ts'

/** Makes the agent's own directory, where pods have theirs, and returns its path without links: the kernel knows mounts by no other. */
export async function prepareRoot(directory: string): Promise<string> {
  await makeFolder(join(directory, 'pods'), 0o750)
  return await realpath(directory)
}
