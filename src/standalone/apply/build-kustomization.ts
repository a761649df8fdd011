import type { Clock } from '../../base/async/clock.ts'
import { isProgram } from '../../system/files/is-program.ts'
import { runProcess } from '../../system/processes/run-process.ts'
import type { BuildKustomization } from './folder-files.ts'

const DEADLINE_MS = 60_000
const MAX_BYTES = 10 * 1024 * 1024

/**
 * Builds kustomizations as kubectl does, with kubectl itself: what a user applies by hand and what the folder applies is the same to the
 * last hash, and a second implementation of all that kustomizations can say would differ in unknown places.
 */
export function createKustomizationBuilder(clock: Clock, programPath: string): BuildKustomization {
  return async (folder, signal) => {
    if (!(await isProgram('kubectl', programPath)))
      throw new Error('a kustomization is built with kubectl, which is not installed')
    const argv = ['kubectl', 'kustomize', folder]
    const { exitCode, stdout, stderr } = await runProcess(
      clock,
      { argv, deadlineMs: DEADLINE_MS, maxOutputBytes: MAX_BYTES },
      signal,
    )
    if (exitCode !== 0) throw new Error(toReason(stderr) || `kubectl ended with ${exitCode}`)
    return stdout
  }
}

// Some builds of kubectl log their last error: with the time, their pid and a place in their source.
const LOGGED = /^E\d{4} \S+ +\d+ \S+\] "command failed" err=(".*")$/ms

/** What kubectl complains about, without what is about kubectl. */
export function toReason(stderr: string): string {
  const logged = LOGGED.exec(stderr.trim())?.[1]
  const text = logged === undefined ? stderr : unquote(logged)
  return text.trim().replace(/^error: /, '')
}

function unquote(text: string): string {
  try {
    return String(JSON.parse(text))
  } catch {
    return text.slice(1, -1)
  }
}
