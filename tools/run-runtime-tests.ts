/** Contract and end-to-end tests on several releases of containerd, with runc and with crun: npm run test:runtimes. */
import { globSync } from 'node:fs'
import process from 'node:process'
import { parseArgs } from 'node:util'
import { errorMessage } from '../src/base/telemetry/error-text.ts'
import { LAB_OCI_RUNTIME } from '../test/e2e/lab/oci-runtime.ts'
import { countTests } from './run-node-tests.ts'
import type { TestCounts, TestGroup } from './run-node-tests.ts'
import { describeRelease, ociRuntimes, openRelease, runtimeReleases } from './runtimes/runtime-releases.ts'
import type { OciRuntime, RuntimeRelease } from './runtimes/runtime-releases.ts'
import { withImages } from './with-images.ts'

/** One pair of programs to run the tests on. */
interface Cell {
  readonly release: RuntimeRelease
  readonly oci: OciRuntime
}

interface RuntimeOptions {
  readonly cells: readonly Cell[]
  /** The test files to run; all when empty. */
  readonly only: readonly string[]
}

const usage = `Usage: npm run test:runtimes -- [--runtime NAME]… [--oci NAME]… [--only FILE]…
  --runtime  ${runtimeReleases.map(({ name }) => name).join(', ')}; all without it
  --oci      ${ociRuntimes.join(', ')}; both without it
  --only     a test file or a pattern; all of them without it`

/** What does not run here, and why not. */
export const notOnRuntimes: Readonly<Record<string, string>> = {
  'test/e2e/standalone/other-users.test.ts': 'about users of the machine; no runtime is asked',
  'test/e2e/docker/docker-node.test.ts': 'about Docker',
}

/** Reads the arguments; fails with what is wrong and how to use it. */
export function parseRuntimeOptions(args: readonly string[]): RuntimeOptions {
  const texts = { type: 'string', multiple: true } as const
  const values = readArguments()
  const releases = choose('--runtime', values.runtime, runtimeReleases, ({ name }) => name)
  const runtimes = choose('--oci', values.oci, ociRuntimes, (name) => name)
  return {
    cells: releases.flatMap((release) => runtimes.map((oci) => ({ release, oci }))),
    only: (values.only ?? []).flatMap((text) => text.split(',')),
  }

  function readArguments() {
    try {
      return parseArgs({ args: [...args], options: { runtime: texts, oci: texts, only: texts }, strict: true }).values
    } catch (error) {
      throw new Error(`Cannot read the arguments: ${errorMessage(error)}\n${usage}`, { cause: error })
    }
  }
}

function choose<T>(
  option: string,
  names: readonly string[] | undefined,
  all: readonly T[],
  nameOf: (one: T) => string,
): readonly T[] {
  const wrong = names?.find((name) => !all.some((one) => nameOf(one) === name))
  if (wrong !== undefined)
    throw new Error(`Cannot use ${option} "${wrong}": expected ${all.map(nameOf).join(', ')}\n${usage}`)
  return all.filter((one) => names === undefined || names.includes(nameOf(one)))
}

/** The tests of one cell, in the order in which they run. */
export function listRuntimeTests(only: readonly string[]): readonly TestGroup[] {
  const wanted = new Set(only.flatMap((pattern) => globSync(pattern)))
  if (only.length > 0 && wanted.size === 0) throw new Error(`Cannot run ${only.join(', ')}: no such test file`)
  const list = (globs: readonly string[]) =>
    globs
      .flatMap((glob) => globSync(glob))
      .filter((file) => !(file in notOnRuntimes) && (only.length === 0 || wanted.has(file)))
  const limits = { timeoutMs: 300_000, confirm: true, onDisk: true }
  const groups = [
    { name: 'contract', globs: list(['test/contract/containerd.test.ts']), ...limits },
    { name: 'features', globs: list(['test/runtimes/*.test.ts']), ...limits },
    { name: 'e2e', globs: list(['test/e2e/{kubelet,cluster,standalone}/*.test.ts']), processes: 4, ...limits },
  ]
  return groups.filter(({ globs }) => globs.length > 0)
}

type Result = { readonly cell: Cell } & ({ readonly counts: TestCounts } | { readonly trouble: string })

async function runCell(cell: Cell, only: readonly string[]): Promise<Result> {
  const { release, oci } = cell
  const path = process.env['PATH'] ?? ''
  try {
    const programs = openRelease(release, (text) => process.stdout.write(text))
    process.stdout.write(`\n=== ${release.name} with ${oci} (${describeRelease(programs).join(', ')})\n`)
    process.env['PATH'] = `${programs}:${path}`
    process.env[LAB_OCI_RUNTIME] = oci
    return { cell, counts: await withImages(() => countTests(listRuntimeTests(only))) }
  } catch (error) {
    process.stdout.write(`\n=== ${release.name} with ${oci}: not run: ${errorMessage(error)}\n`)
    return { cell, trouble: errorMessage(error) }
  } finally {
    process.env['PATH'] = path
  }
}

function report(results: readonly Result[]): boolean {
  const total = { passed: 0, failed: 0, refused: 0, skipped: 0 }
  process.stdout.write('\n')
  for (const { cell, ...result } of results) {
    const name = `${cell.release.name} with ${cell.oci}`
    if ('trouble' in result) {
      process.stdout.write(`not run  ${name}: ${result.trouble}\n`)
      continue
    }
    const { ok, passed, failed, refused, skipped } = result.counts
    process.stdout.write(
      `${ok ? 'ok' : 'FAILED'}  ${name}: ${passed} passed, ${failed} failed, ${refused} refused, ${skipped - refused} not applicable\n`,
    )
    total.passed += passed
    total.failed += failed
    total.refused += refused
    total.skipped += skipped - refused
  }
  const missing = results.filter((result) => 'trouble' in result).length
  process.stdout.write(
    `\n${total.passed} passed, ${total.failed} failed, ${total.refused} refused, ${total.skipped} not applicable${missing === 0 ? '' : `; ${missing} of ${results.length} not run`}\n`,
  )
  return results.every((result) => 'counts' in result && result.counts.ok)
}

async function main(args: readonly string[]): Promise<boolean> {
  const { cells, only } = parseRuntimeOptions(args)
  listRuntimeTests(only)
  for (const [file, reason] of Object.entries(notOnRuntimes)) process.stdout.write(`left out: ${file}: ${reason}\n`)
  const results: Result[] = []
  for (const cell of cells) results.push(await runCell(cell, only))
  return report(results)
}

if (import.meta.main) {
  try {
    process.exitCode = (await main(process.argv.slice(2))) ? 0 : 1
  } catch (error) {
    process.stderr.write(`${errorMessage(error)}\n`)
    process.exitCode = 2
  }
}
