import type { FileReader } from './kept-file.ts'
import { KubeconfigError } from './kubeconfig.ts'
import type { Kubeconfig } from './kubeconfig.ts'
import { parseKubeconfig } from './parse-kubeconfig.ts'

// Files for a hundred clusters have less.
const MAX_BYTES = 10 * 1024 * 1024

/** Reads a kubeconfig file. Fails with a KubeconfigError that names the file and the field. */
export async function loadKubeconfig(files: FileReader, path: string): Promise<Kubeconfig> {
  let bytes: Uint8Array
  try {
    bytes = await files.readFile(path, MAX_BYTES)
  } catch (error) {
    throw new KubeconfigError(`Cannot read kubeconfig "${path}"`, { cause: error })
  }
  return parseKubeconfig(bytes, path)
}
