import process from 'node:process'
import type { MemoryTrimDeps } from '../../base/telemetry/run-memory-trim.ts'
import { readIdleCpu } from '../../system/machine/read-idle-cpu.ts'
import { collectGarbage } from '../../system/processes/collect-garbage.ts'
import { readAnonymousMemory } from '../../system/processes/own-process.ts'
import { trimMalloc } from '../../system/processes/trim-malloc.ts'
import { unmapCode } from '../../system/processes/unmap-code.ts'

/** The memory of the process of "up", with the API and its controllers. */
export const ownMemory: Omit<MemoryTrimDeps, 'clock'> = {
  work: ownWork,
  idleCpuMs: readIdleCpu,
  residentBytes: readAnonymousMemory,
  collectGarbage,
  trimMalloc,
  unmapCode,
}

/** What this process did, in pieces of 50 ms of CPU time: requests, watches and controllers are all the same to it. */
function ownWork(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 50_000
}
