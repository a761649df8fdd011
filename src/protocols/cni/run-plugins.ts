import process from 'node:process'
import type { Clock } from '../../base/async/clock.ts'
import { isRecord } from '../../base/document/is-record.ts'
import { isProgram } from '../../system/files/is-program.ts'
import { runProcess } from '../../system/processes/run-process.ts'
import { CniError } from './cni-error.ts'
import { computePluginCall, knowsResults } from './compute-plugin-call.ts'
import type { CallSettings, CniAttachment, CniCommand, PluginCall } from './compute-plugin-call.ts'
import type { CniNetwork, CniPlugin } from './parse-network.ts'

export interface CniDeps extends CallSettings {
  readonly clock: Clock
}

// As kubelets had it for one command.
const LONGEST_MS = 220_000
const LARGEST_ANSWER = 1024 * 1024
const LONGEST_TEXT = 1000

/** Attaches a pod: each plugin gets what the one before it did. Answers with what the last one says. */
export async function addToNetwork(
  deps: CniDeps,
  network: CniNetwork,
  attachment: CniAttachment,
  signal: AbortSignal,
): Promise<unknown> {
  let previous: unknown
  for (const plugin of network.plugins) {
    const text = await run(deps, 'ADD', { network, plugin, previous }, attachment, signal)
    previous = parseResult(plugin, text)
  }
  return previous
}

/** Detaches a pod, also one that was attached in part or not at all. */
export async function deleteFromNetwork(
  deps: CniDeps,
  network: CniNetwork,
  attachment: CniAttachment,
  result: unknown,
  signal: AbortSignal,
): Promise<void> {
  const previous = knowsResults(network.version) ? result : undefined
  for (const plugin of network.plugins.toReversed()) {
    try {
      await run(deps, 'DEL', { network, plugin, previous }, attachment, signal)
    } catch (error) {
      // What the plugin would take down is gone, often with the namespace.
      if (!(error instanceof CniError && error.message.includes('no such file or directory'))) throw error
    }
  }
}

/** Is a pod attached as it was? Networks that cannot be checked are taken to be so. */
export async function checkNetwork(
  deps: CniDeps,
  network: CniNetwork,
  attachment: CniAttachment,
  result: unknown,
  signal: AbortSignal,
): Promise<void> {
  if (!knowsResults(network.version) || network.disableCheck || result === undefined) return
  for (const plugin of network.plugins)
    await run(deps, 'CHECK', { network, plugin, previous: result }, attachment, signal)
}

async function run(
  deps: CniDeps,
  command: CniCommand,
  step: { readonly network: CniNetwork; readonly plugin: CniPlugin; readonly previous: unknown },
  attachment: CniAttachment,
  signal: AbortSignal,
): Promise<string> {
  const program = await findPlugin(deps, step.plugin)
  return await runPlugin(deps, program, computePluginCall(command, step, attachment, deps), signal)
}

async function findPlugin({ programs }: CniDeps, { type }: CniPlugin): Promise<string> {
  for (const folder of programs) if (await isProgram(`${folder}/${type}`, '')) return `${folder}/${type}`
  throw new CniError(`failed to find plugin "${type}" in path [${programs.join(' ')}]`)
}

async function runPlugin(
  { clock }: CniDeps,
  program: string,
  { environment, stdin }: PluginCall,
  signal: AbortSignal,
): Promise<string> {
  const { exitCode, stdout, stderr } = await runProcess(
    clock,
    {
      argv: [program],
      deadlineMs: LONGEST_MS,
      stdin,
      environment: { ...process.env, ...environment },
      maxOutputBytes: LARGEST_ANSWER,
    },
    signal,
  )
  if (exitCode === 0) return stdout
  throw new CniError(`plugin ${program} failed: ${describeFailure(stdout, stderr)}`)
}

/** A plugin says on stdout what went wrong. */
function describeFailure(stdout: string, stderr: string): string {
  const answer = tryParse(stdout)
  if (isRecord(answer) && typeof answer['msg'] === 'string') {
    const { msg, details } = answer
    return typeof details === 'string' && details !== '' ? `${msg}; ${details}` : msg
  }
  const said = (stderr.trim() || stdout.trim()).slice(-LONGEST_TEXT)
  return said === '' ? 'it did not say why' : said
}

function parseResult({ type }: CniPlugin, text: string): Readonly<Record<string, unknown>> {
  const result = tryParse(text)
  if (isRecord(result)) return result
  throw new CniError(`plugin "${type}" answered with ${JSON.stringify(text.slice(0, 200))}: expected a result`)
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
