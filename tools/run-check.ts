/** The fast gate: format, lint and layers, types, dead code, unit tests. Stops at the first that fails. */
import { spawnSync } from 'node:child_process'
import process from 'node:process'
import { runTests, unitTests } from './run-node-tests.ts'

const bin = (name: string, path: string) => [`node_modules/${name}/${path}`]

export const gate: readonly (readonly [name: string, args: readonly string[]])[] = [
  ['format', [...bin('oxfmt', 'bin/oxfmt'), '--check']],
  ['lint', [...bin('oxlint', 'bin/oxlint'), '--type-aware', '--deny-warnings']],
  ['layers', ['tools/check-layers.ts']],
  // With what it found the last time it is done in a quarter of the time where little has changed.
  ['types', [...bin('typescript', 'bin/tsc'), '--incremental', '--tsBuildInfoFile', '.cache/types.tsbuildinfo']],
  ['types of the page', [...bin('typescript', 'bin/tsc'), '-p', 'src/page/client']],
  ['pure files', [...bin('typescript', 'bin/tsc'), '-p', 'tsconfig.pure.json']],
  ['dead code', bin('knip', 'bin/knip.js')],
  ['code that only tests use', [...bin('knip', 'bin/knip.js'), '--production']],
]

/** Runs the static gate; says which step failed and how to see it again. */
export function runGate(): boolean {
  for (const [name, args] of gate) {
    const started = performance.now()
    const { status } = spawnSync(process.execPath, [...args], { stdio: 'inherit' })
    console.log(`${status === 0 ? 'ok' : 'FAILED'}  ${name} (${Math.round(performance.now() - started)} ms)`)
    if (status !== 0) return false
  }
  return true
}

if (import.meta.main) {
  process.exitCode = runGate() && (await runTests(unitTests)) ? 0 : 1
}
