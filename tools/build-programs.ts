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
  'child/main': 'src/system/guarded/child/main.ts',
  // As namespace-dialer.ts does this one.
  'child/dial': 'src/system/network/child/dial.ts',
  // And parse-yaml.ts this library, which it loads without waiting.
  'yaml-library': 'src/base/document/yaml-library.ts',
} as const

export type ProgramName = keyof typeof PROGRAMS

/** Writes all programs to a folder. Returns the paths below the root of all that is in them. */
export async function buildPrograms(
  root: string,
  outdir: string,
  beside: Partial<Record<ProgramName, Readonly<Record<string, string>>>> = {},
): Promise<readonly string[]> {
  const inputs: string[] = []
  const ownBuild = readOwnBuild(root)
  for (const [name, source] of Object.entries(PROGRAMS) as [ProgramName, string][])
    inputs.push(...(await buildProgram(root, { name, source, outdir, beside: beside[name] ?? {}, ownBuild })))
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
