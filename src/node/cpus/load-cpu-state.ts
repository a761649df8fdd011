import type { Logger } from '../../base/telemetry/logger.ts'
import { computeKeptAssignments } from './compute-kept-assignments.ts'
import type { CpuPolicy } from './cpu-policy.ts'
import { parseCpuStateFile } from './cpu-state-file.ts'
import type { CpuStateRecord } from './cpu-state-file.ts'
import { toCpuState } from './cpu-state.ts'
import type { CpuState } from './cpu-state.ts'
import type { StateFile } from '../../system/files/state/state-file.ts'
import { setAsideBroken } from '../../system/files/state/state-file.ts'

interface LoadDeps {
  readonly store: StateFile
  readonly log: Logger
}

/** The content of the file; undefined when there is none, or none that can be read. */
export async function loadCpuRecord({ store, log }: LoadDeps): Promise<CpuStateRecord | undefined> {
  try {
    const text = await store.read()
    return text === undefined ? undefined : parseCpuStateFile(text)
  } catch (error) {
    log.error('cannot read which CPUs containers have, setting the file aside and reading what runs', {
      ...(await setAsideBroken(store, error)),
      error,
    })
    return undefined
  }
}

/** The assignments that are valid on this machine with this configuration. Others are reported, and their pods get new CPUs. */
export async function loadCpuState({ store, log }: LoadDeps, policy: CpuPolicy): Promise<CpuState> {
  const record = await loadCpuRecord({ store, log })
  if (record === undefined) return toCpuState(policy, new Map())
  if (record.policyName !== 'static') {
    log.warn('the CPU policy is another one now: pods that run and may have CPUs for themselves get them', {
      was: record.policyName,
      now: 'static',
    })
    return toCpuState(policy, new Map())
  }
  const { state, problem, dropped } = computeKeptAssignments(record, policy)
  if (problem !== undefined) {
    log.error('the record of which CPUs containers have does not fit, setting it aside and keeping what can be kept', {
      ...(await setAsideBroken(store)),
      problem,
      dropped,
    })
  }
  return state
}
