/** The fast gate: format, lint and layers, types, dead code, unit tests. Begins nothing more after a step that fails. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import process from 'node:process'
import { runTests, unitTests } from './run-node-tests.ts'

const bin = (name: string, path: string) => [`node_modules/${name}/${path}`]

// With what it found the last time it is done in a quarter of the time where little has changed; and several threads would each
// look again at much that the others have seen.
const TYPES = ['--singleThreaded', '--incremental', '--tsBuildInfoFile', '.cache/types.tsbuildinfo']
// For programs in Go: the linter collects garbage half as often, and needs no more memory for that.
const ENVIRONMENT = { GOGC: '200' }

type Step = readonly [name: string, args: readonly string[]]

/** Steps that keep one CPU busy are beside those that keep all of them busy for a part of their time. */
export const gate: readonly Step[] = [
  ['format', [...bin('oxfmt', 'bin/oxfmt'), '--check']],
  ['lint', [...bin('oxlint', 'bin/oxlint'), '--type-aware', '--deny-warnings']],
  ['layers', ['tools/check-layers.ts']],
  ['dead code', bin('knip', 'bin/knip.js')],
  ['code that only tests use', [...bin('knip', 'bin/knip.js'), '--production']],
  ['types', [...bin('typescript', 'bin/tsc'), ...TYPES]],
  ['types of the page', [...bin('typescript', 'bin/tsc'), '-p', 'src/page/client']],
  ['pure files', [...bin('typescript', 'bin/tsc'), '-p', 'tsconfig.pure.json']],
]

/** Runs the static gate, as many steps at once as there are CPUs; says which failed and what they found. */
export async function runGate(): Promise<boolean> {
  const waiting = [...gate]
  let ok = true
  const work = async () => {
    for (let step = waiting.shift(); ok && step !== undefined; step = waiting.shift()) {
      if (!(await runStep(step))) ok = false
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, work))
  return ok
}

async function runStep([name, args]: Step): Promise<boolean> {
  const started = performance.now()
  const child = spawn(process.execPath, [...args], {
    env: { ...process.env, ...ENVIRONMENT },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  // Not as it comes: others write at the same time.
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
  const [status] = (await once(child, 'close')) as [number | null]
  const took = Math.round(performance.now() - started)
  process.stdout.write(`${status === 0 ? '' : output}${status === 0 ? 'ok' : 'FAILED'}  ${name} (${took} ms)\n`)
  return status === 0
}

if (import.meta.main) {
  process.exitCode = (await runGate()) && (await runTests(unitTests)) ? 0 : 1
}
