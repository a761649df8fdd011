import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../base/async/clock.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { unlessAbsent } from '../files/error-codes.ts'
import { CNI_RESULTS } from './cni-results.ts'

// Far longer than a runtime takes from making such a file to its content.
const WRITING_MS = 1000

/**
 * Removes what a power cut left empty of the results of CNI plugins. The CNI library does not sync them, and a runtime that finds an empty one fails at each
 * attempt to stop the sandbox, so that its pod never ends and never runs again; without the file it goes on.
 */
export async function removeTornCniResults(
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
  signal: AbortSignal,
  folder = CNI_RESULTS,
): Promise<void> {
  try {
    const empty = await listEmpty(folder)
    if (empty.length === 0) return
    // One that a runtime is just writing has its content by then.
    await clock.sleep(WRITING_MS, signal)
    const torn = (await listEmpty(folder)).filter((path) => empty.includes(path))
    for (const path of torn) await rm(path, { force: true })
    if (torn.length > 0) log.warn('removed empty results of CNI plugins, as a power cut leaves them', { files: torn })
  } catch (error) {
    signal.throwIfAborted()
    log.warn('cannot look for empty results of CNI plugins', { folder, error })
  }
}

async function listEmpty(folder: string): Promise<readonly string[]> {
  const empty: string[] = []
  for (const name of await unlessAbsent(readdir(folder), [])) {
    const path = join(folder, name)
    const found = await unlessAbsent(stat(path), undefined)
    if (found?.isFile() === true && found.size === 0) empty.push(path)
  }
  return empty
}
