import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildProgram } from './build-program.ts'
import type { OwnBuild } from './build-program.ts'

// Each by itself: together they would share code in many small files.
export const PROGRAMS = {
  main: 'src/main.ts',
  deckhand: 'src/deckhand.ts',
  // create-guarded-files.ts expects it beside itself.
  'child/answer-requests': 'src/system/guarded/child/answer-requests.ts',
  // As namespace-dialer.ts does this one.
  'child/dial': 'src/system/network/child/dial.ts',
  // And parse-yaml.ts this library, which it loads without waiting.
  'yaml-library': 'src/base/document/yaml-library.ts',
} as const

export type ProgramName = keyof typeof PROGRAMS

interface Choice {
  /** All if there is none. */
  readonly names?: readonly ProgramName[]
  /** What else is built with a program. */
  readonly beside?: Partial<Record<ProgramName, Readonly<Record<string, string>>>>
}

/** Writes programs to a folder. Returns the paths below the root of all that is in them. */
export async function buildPrograms(
  root: string,
  outdir: string,
  { names = Object.keys(PROGRAMS) as ProgramName[], beside = {} }: Choice = {},
): Promise<readonly string[]> {
  const inputs: string[] = []
  const ownBuild = readOwnBuild(root)
  for (const name of names) {
    const program = { name, source: PROGRAMS[name], outdir, beside: beside[name] ?? {}, ownBuild }
    inputs.push(...(await buildProgram(root, program)))
  }
  return inputs
}

function readOwnBuild(root: string): OwnBuild {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  // An unpacked archive has no history.
  const git = spawnSync('git', ['describe', '--always', '--dirty', '--abbrev=12', '--exclude=*'], {
    cwd: root,
    encoding: 'utf8',
  })
  return { version, commit: git.status === 0 ? git.stdout.trim() : '' }
}
