import { closeSync, constants, mkdirSync, openSync, statSync } from 'node:fs'
import type { Stats } from 'node:fs'
import type { HostPathType } from '../guarded-files.ts'
import { GuardedError } from './guarded-error.ts'
import { hasCode } from '../../files/error-codes.ts'

interface HostPathRequest {
  readonly path: string
  readonly type: Exclude<HostPathType, ''>
}

interface TypeRule {
  readonly kind: string
  readonly matches: (stat: Stats) => boolean
  readonly make?: (path: string) => void
}

const makeFile = (path: string) => closeSync(openSync(path, constants.O_CREAT | constants.O_WRONLY, 0o644))

const directory: TypeRule = { kind: 'directory', matches: (stat) => stat.isDirectory() }
const file: TypeRule = { kind: 'file', matches: (stat) => stat.isFile() }

const rules: Readonly<Record<HostPathRequest['type'], TypeRule>> = {
  DirectoryOrCreate: { ...directory, make: (path) => mkdirSync(path, { recursive: true, mode: 0o755 }) },
  Directory: directory,
  FileOrCreate: { ...file, make: makeFile },
  File: file,
  Socket: { kind: 'socket file', matches: (stat) => stat.isSocket() },
  CharDevice: { kind: 'character device', matches: (stat) => stat.isCharacterDevice() },
  BlockDevice: { kind: 'block device', matches: (stat) => stat.isBlockDevice() },
}

/** Makes what the type allows to make, and fails when the path is something else. */
export function checkHostPath({ path, type }: HostPathRequest): void {
  const { kind, matches, make } = rules[type]
  let stat = statIfThere(path)
  if (stat === undefined && make !== undefined) {
    make(path)
    stat = statIfThere(path)
  }
  if (stat === undefined || !matches(stat))
    throw new GuardedError(
      stat === undefined ? 'ENOENT' : 'EINVAL',
      `hostPath type check failed: ${path} is not a ${kind}`,
    )
}

function statIfThere(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined
    throw error
  }
}
