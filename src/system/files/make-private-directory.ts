import { mkdir } from 'node:fs/promises'

/** Makes a directory that only root may look into; content when it is there. */
export async function makePrivateDirectory(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 })
}
