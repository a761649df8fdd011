import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { BUILT_AGENTS, BUILT_FILES } from '../test/e2e/support/built-agents.ts'
import { buildPrograms } from './build-programs.ts'

const root = join(import.meta.dirname, '..')

/** Builds the agents of tests together with what is loaded into them, for all that is run meanwhile; should that fail, tests take the sources. */
export async function withBuiltAgents<T>(run: () => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-agents-'))
  try {
    try {
      await buildAgents(folder)
      process.env[BUILT_AGENTS] = folder
    } catch (error) {
      console.error('Cannot build the agents of tests, they run from their sources:', error)
    }
    return await run()
  } finally {
    delete process.env[BUILT_AGENTS]
    rmSync(folder, { recursive: true })
  }
}

async function buildAgents(folder: string): Promise<void> {
  const beside = BUILT_FILES.map((name) => [name, `test/e2e/support/${name}.ts`])
  // The kubelet, and what it expects beside itself.
  const names = ['main', 'child/answer-requests', 'child/dial', 'yaml-library'] as const
  await buildPrograms(root, folder, { names, beside: { main: Object.fromEntries(beside) } })
  const launcher = `#!/bin/sh
NODE_COMPILE_CACHE=${folder}/compiled
export NODE_COMPILE_CACHE
exec ${process.execPath} ${folder}/main.js "$@"
`
  writeFileSync(join(folder, 'kubelet'), launcher, { mode: 0o755 })
}
