import type { Logger } from '../../base/telemetry/logger.ts'
import type { PodLevel } from '../placement/pod-level.ts'
import { computeKeptMemory } from './compute-kept-memory.ts'
import { parseMemoryStateFile } from './memory-state-file.ts'
import type { MemoryAssignmentTable, MemoryPolicy } from './memory-state.ts'
import type { StateFile } from '../../system/files/state/state-file.ts'
import { setAsideBroken } from '../../system/files/state/state-file.ts'

interface LoadDeps {
  readonly file: StateFile
  readonly log: Logger
  readonly podLevel: PodLevel
}

/** What an earlier agent gave away, as far as it holds on this machine, with this configuration. Nothing in the file stops the start. */
export async function loadMemoryState(
  { file, log, podLevel }: LoadDeps,
  policy: MemoryPolicy,
): Promise<MemoryAssignmentTable> {
  try {
    const text = await file.read()
    if (text === undefined) return new Map()
    const record = parseMemoryStateFile(text)
    if (record.policyName !== 'Static') {
      log.warn('the memory policy is another one now: pods that run are counted as if it had been this one', {
        was: record.policyName,
        now: 'Static',
      })
      return new Map()
    }
    const { assignments, problem, dropped } = computeKeptMemory(record, policy, podLevel)
    if (problem === undefined) return assignments
    log.error(
      'the record of which memory containers have does not fit, setting it aside and keeping what can be kept',
      {
        ...(await setAsideBroken(file)),
        problem,
        dropped,
      },
    )
    return assignments
  } catch (error) {
    log.error('cannot read which memory containers have, setting the file aside and reading what runs', {
      ...(await setAsideBroken(file, error)),
      error,
    })
    return new Map()
  }
}
