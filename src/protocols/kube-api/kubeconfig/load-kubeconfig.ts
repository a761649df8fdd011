import { checkKubeconfig } from './check-kubeconfig.ts'
import type { KubeconfigCheckDeps } from './check-kubeconfig.ts'
import type { FileReader } from './kept-file.ts'
import { KubeconfigError } from './kubeconfig.ts'
import type { Kubeconfig } from './kubeconfig.ts'
import { openKubeconfig } from './open-kubeconfig.ts'
import type { KubeconfigParts } from './open-kubeconfig.ts'
import { parseKubeconfig } from './parse-kubeconfig.ts'
import { toReadFault } from './to-read-fault.ts'

// Files for a hundred clusters have less.
const MAX_BYTES = 10 * 1024 * 1024

/** Reads a kubeconfig file. Fails with a KubeconfigError that names the file and the field. */
export async function loadKubeconfig(files: FileReader, path: string): Promise<Kubeconfig> {
  return parseKubeconfig(await open(files, path))
}

/** The same, and checks all that the file points to: what cannot be used is reported with its field too. */
export async function loadUsableKubeconfig(deps: KubeconfigCheckDeps, path: string): Promise<Kubeconfig> {
  const parts = await open(deps.files, path)
  const config = parseKubeconfig(parts)
  await checkKubeconfig(config, parts, deps)
  return config
}

async function open(files: FileReader, path: string): Promise<KubeconfigParts> {
  let bytes: Uint8Array
  try {
    bytes = await files.readFile(path, MAX_BYTES)
  } catch (error) {
    throw new KubeconfigError(`Cannot read kubeconfig "${path}": ${toReadFault(error)}`, { cause: error })
  }
  return openKubeconfig(bytes, path)
}
