import { spawnSync } from 'node:child_process'
import { closeSync, lstatSync, mkdirSync, openSync, rmdirSync, statSync, unlinkSync } from 'node:fs'
import { dirname } from 'node:path'
import { GuardedError } from './guarded-error.ts'
import { hasCode } from '../../files/error-codes.ts'
import { holdTrusted } from './held-path.ts'
import type { HeldPath } from './held-path.ts'

/** Binds a held file at a path of the agent's own. mount(8) must not resolve the source: only the kernel takes the descriptor for what it is. */
export function bindAt(source: HeldPath, target: string): void {
  runTool(['mount', '--no-canonicalize', '--bind', `/proc/${process.pid}/fd/${source.fd}`, target])
}

/** True when something is mounted at the path itself. */
export function isMountPoint(path: string): boolean {
  try {
    using held = holdTrusted(path)
    using parent = holdTrusted(dirname(path))
    return held.mountId() !== parent.mountId()
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return false
    throw error
  }
}

/** Lazily, so that it works for a file system that no longer answers; a process that still uses it keeps it. */
export function unmountAt(path: string): void {
  runTool(['umount', '--lazy', '--no-canonicalize', path])
}

/** True when the path shows the very file that is held. */
export function shows(path: string, held: HeldPath): boolean {
  const [shown, wanted] = [statSync(path, { bigint: true }), held.exactStat()]
  return shown.dev === wanted.dev && shown.ino === wanted.ino
}

/** A directory or an empty file to bind on; the wrong one of both is replaced. */
export function makeTarget(path: string, isDirectory: boolean): void {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat !== undefined && (isDirectory ? stat.isDirectory() : stat.isFile())) return
  if (stat !== undefined) removeTarget(path)
  mkdirSync(dirname(path), { recursive: true, mode: 0o750 })
  if (isDirectory) mkdirSync(path, { mode: 0o750 })
  else closeSync(openSync(path, 'wx', 0o640))
}

/** Only an empty directory or an empty file: anything else is not ours. */
export function removeTarget(path: string): void {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return
  if (stat.isDirectory()) rmdirSync(path)
  else if (stat.isFile() && stat.size === 0) unlinkSync(path)
  else throw new GuardedError('ENOTEMPTY', `Cannot remove "${path}": expected an empty directory or file`)
}

function runTool(argv: readonly string[]): void {
  const [file = '', ...args] = argv
  const { status, stderr, error } = spawnSync(file, args, { stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8' })
  if (error !== undefined) throw error
  if (status !== 0)
    throw new GuardedError('EIO', `Cannot run "${argv.join(' ')}": exit code ${status}: ${stderr.trim()}`)
}
