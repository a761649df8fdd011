import { errorMessage } from '../../base/telemetry/error-text.ts'
import { listFolder, readTextIfPresent } from '../../system/files/files-and-folders.ts'
import { listConfigurations, parseNetworkFile } from './parse-network.ts'
import type { CniNetwork } from './parse-network.ts'

export interface LoadedNetwork {
  /** The first one of the folder; undefined when there is none. */
  readonly network: CniNetwork | undefined
  /** Why files before it were skipped. */
  readonly skipped: readonly string[]
}

/** The network of pods, as the folder of configurations has it now. */
export async function loadNetwork(folder: string): Promise<LoadedNetwork> {
  const skipped: string[] = []
  for (const name of listConfigurations(await listFolder(folder))) {
    try {
      const text = await readTextIfPresent(`${folder}/${name}`)
      if (text !== undefined) return { network: parseNetworkFile(name, text), skipped }
    } catch (error) {
      skipped.push(errorMessage(error))
    }
  }
  return { network: undefined, skipped }
}
