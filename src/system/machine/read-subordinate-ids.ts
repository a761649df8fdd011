import { readFile } from 'node:fs/promises'
import type { Clock } from '../../base/async/clock.ts'
import { isProgram } from '../files/is-program.ts'
import { runProcessOrThrow } from '../processes/run-process.ts'

/** What getsubids prints about the user ids and the group ids that a user may give away. */
export interface SubordinateIds {
  readonly uids: string
  readonly gids: string
}

const USER = 'kubelet'
const PROGRAM = 'getsubids'
const DEADLINE_MS = 10_000

/** The ids that the machine has set aside for pods: those of the user "kubelet". Undefined where none are set aside. */
export async function readSubordinateIds(
  { clock, path, passwd = '/etc/passwd' }: { readonly clock: Clock; readonly path: string; readonly passwd?: string },
  signal: AbortSignal,
): Promise<SubordinateIds | undefined> {
  const users = await readFile(passwd, 'utf8').catch(() => '')
  const isSetUp = users.split('\n').some((line) => line.startsWith(`${USER}:`))
  if (!isSetUp || !(await isProgram(PROGRAM, path))) return undefined
  const run = async (...args: string[]) => {
    const request = { argv: [PROGRAM, ...args, USER], deadlineMs: DEADLINE_MS, environment: { PATH: path } }
    return (await runProcessOrThrow(clock, request, signal)).stdout
  }
  return { uids: await run(), gids: await run('-g') }
}
