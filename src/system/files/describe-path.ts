import type { Clock } from '../../base/async/clock.ts'
import { runProcess, runProcessOrThrow } from '../processes/run-process.ts'

/** What a path of the node leads to, links followed. */
export interface PathDescription {
  readonly kind: 'directory' | 'blockDevice' | 'other'
  /** Without links. */
  readonly real: string
  readonly group: number
}

const DEADLINE_MS = 10_000
const TYPE_MASK = 0o170000
const KINDS: ReadonlyMap<number, PathDescription['kind']> = new Map([
  [0o040000, 'directory'],
  [0o060000, 'blockDevice'],
])

/** Reads in child processes with a deadline, since the path may lie on a file system that does not answer; undefined when nothing is there. */
export async function describePath(
  clock: Clock,
  path: string,
  signal: AbortSignal,
): Promise<PathDescription | undefined> {
  const resolved = await runProcess(
    clock,
    { argv: ['realpath', '-e', '-z', '--', path], deadlineMs: DEADLINE_MS },
    signal,
  )
  if (resolved.exitCode !== 0) return undefined
  const real = resolved.stdout.replace(/\0$/, '')
  const argv = ['stat', '-c', '%f %g', '--', real]
  const { stdout } = await runProcessOrThrow(clock, { argv, deadlineMs: DEADLINE_MS }, signal)
  const [mode = '', group = ''] = stdout.trim().split(' ')
  const kind = KINDS.get(Number.parseInt(mode, 16) & TYPE_MASK) ?? 'other'
  return { kind, real, group: Number(group) }
}
