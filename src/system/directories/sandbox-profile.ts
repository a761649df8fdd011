import { inspectPath } from '../files/read-bounded-file.ts'

/** Where a seccomp profile for the sandboxes of a node may lie, below the folder of its agent. */
export function sandboxProfilePath(rootDirectory: string): string {
  return `${rootDirectory}/deckhand/sandbox-seccomp.json`
}

/** The path of that profile; undefined where there is none. */
export async function findSandboxProfile(rootDirectory: string): Promise<string | undefined> {
  const path = sandboxProfilePath(rootDirectory)
  return (await inspectPath(path)).kind === 'missing' ? undefined : path
}
