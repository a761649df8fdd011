import { extname } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { DeadlineError } from '../../base/async/abort-errors.ts'
import type { Clock } from '../../base/async/clock.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { GuardedFiles } from './guarded-files.ts'
import { GuardedPool } from './guarded-pool.ts'
import type { GuardedTask } from './guarded-pool.ts'
import { GuardedFileError } from './guarded-process.ts'
import type { Operations } from './child/operations.ts'

// Beside us, and built like us: TypeScript in a checkout, JavaScript in an installed package.
const PROGRAM = fileURLToPath(new URL(`child/answer-requests${extname(import.meta.filename)}`, import.meta.url))

// What is done in milliseconds, unless something hangs. A server may be slow; its pod waits, and no other.
const PROMPT_MS = 10_000
// Between two words about a walk, one every 100 entries: removing a single huge file may take long.
const WALK_MS = 60_000

export interface GuardedFilesOptions {
  readonly clock: Clock
  readonly log: Logger
  /**
   * Put in front of the children's program, which it must become: lets them die with us (findDeathSignal()), or starts them in another mount
   * namespace. Asked before the first of them.
   */
  readonly findLauncher: () => Promise<readonly string[]>
}

/** Work on pods' files in child processes. Ends with its block: all children are killed then. */
export function createGuardedFiles(options: GuardedFilesOptions): GuardedFiles & Disposable {
  const { clock, log, findLauncher } = options
  const argv = async () => [...(await findLauncher()), process.execPath, PROGRAM]
  const pool = new GuardedPool({ clock, log, argv })
  const run = async <Name extends keyof Operations>(
    operation: Name,
    task: Omit<GuardedTask, 'operation' | 'request'> & { readonly request: Operations[Name]['request'] },
    signal: AbortSignal,
  ) => (await pool.run({ operation, ...task }, signal)) as Operations[Name]['result']
  return {
    async checkHostPath({ path, type }, signal) {
      if (path.split('/').includes('..'))
        throw new GuardedFileError(`Cannot use hostPath "${path}": expected a path without ".."`, 'EINVAL')
      // Whatever is there, or nothing, will do. But a path that does not answer would hang the runtime.
      if (type === '') await run('kindOf', { request: { path }, place: path, silenceMs: PROMPT_MS }, signal)
      else await run('checkHostPath', { request: { path, type }, place: path, silenceMs: PROMPT_MS }, signal)
    },
    async setOwnership(request, onProgress, signal) {
      return await run('setOwnership', { request, place: request.root, silenceMs: WALK_MS, onProgress }, signal)
    },
    async measureTree(root, signal) {
      return await run('measureTree', { request: { root }, place: root, silenceMs: WALK_MS }, signal)
    },
    async measureFileSystem(path, signal) {
      return await run('measureFileSystem', { request: { path }, place: path, silenceMs: PROMPT_MS }, signal)
    },
    async removeTree(root, signal) {
      await run('removeTree', { request: { root }, place: root, silenceMs: WALK_MS }, signal)
    },
    async makeSubPath(request, signal) {
      await run('makeSubPath', { request, place: request.root, silenceMs: PROMPT_MS }, signal)
    },
    async bindSubPath(request, signal) {
      try {
        await run('bindSubPath', { request, place: request.root, silenceMs: PROMPT_MS }, signal)
      } catch (error) {
        // A child that was killed could not take back what it had begun.
        if (error instanceof DeadlineError) await releaseTarget(request.target, signal)
        throw error
      }
    },
    async releaseSubPaths(directory, signal) {
      await run('releaseSubPaths', { request: { directory }, place: directory, silenceMs: WALK_MS }, signal)
    },
    async readFile(request, signal) {
      const answer = await run('readInside', { request, place: request.root, silenceMs: PROMPT_MS }, signal)
      return Buffer.from(answer, 'base64')
    },
    async kindOf(path, signal) {
      return await run('kindOf', { request: { path }, place: path, silenceMs: PROMPT_MS }, signal)
    },
    [Symbol.dispose]: () => pool[Symbol.dispose](),
  }

  async function releaseTarget(target: string, signal: AbortSignal): Promise<void> {
    try {
      await run('releaseTarget', { request: { target }, place: target, silenceMs: PROMPT_MS }, signal)
    } catch (error) {
      log.warn('bind of a subPath may be left behind', { target, error })
    }
  }
}
