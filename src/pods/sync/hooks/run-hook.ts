import { CriCallError } from '../../../protocols/cri/cri-call-error.ts'
import { HookError } from './hook-error.ts'
import type { HookRequest } from './hook-request.ts'
import { runHttpHook } from './run-http-hook.ts'
import type { Clock } from '../../../base/async/clock.ts'
import type { NoteStep } from '../../../base/telemetry/note-step.ts'
import type { CriCalls } from '../../../protocols/cri/cri-calls.ts'
import type { HttpHookDeps } from './run-http-hook.ts'
import { toSeconds } from '../../../model/text/int64.ts'

export interface HookDeps extends HttpHookDeps {
  readonly calls: Pick<CriCalls, 'execSync'>
  readonly noteStep: NoteStep
  readonly clock: Clock
}

/** Runs a hook for as long as it takes; the signal is its only limit. Fails with a HookError when it did not do its work. */
export async function runHook(deps: HookDeps, request: HookRequest, signal: AbortSignal): Promise<void> {
  const { name, container } = request
  await deps.noteStep(`${name} hook of container "${container.name}"`, () => run(deps, request, signal))
}

async function run(deps: HookDeps, request: HookRequest, signal: AbortSignal): Promise<void> {
  const { exec, httpGet, sleep } = request.handler
  if (exec !== undefined) await runCommand(deps, { ...request, command: exec.command ?? [] }, signal)
  else if (httpGet !== undefined) await runHttpHook(deps, { ...request, httpGet }, signal)
  else if (sleep !== undefined)
    await deps.clock.sleep(Math.max(0, toSeconds(sleep.seconds) * 1000 - (request.hasRunMs ?? 0)), signal)
  else throw new HookError('Cannot run the hook: expected exec, httpGet or sleep')
}

async function runCommand(
  deps: HookDeps,
  { containerId, command }: { readonly containerId: string; readonly command: readonly string[] },
  signal: AbortSignal,
): Promise<void> {
  const exitCode = await deps.calls.execSync({ containerId, cmd: [...command], timeout: 0n }, signal).then(
    (answer) => answer.exitCode,
    (error: unknown) => {
      if (!(error instanceof CriCallError)) throw error
      throw new HookError(`Cannot run the command: ${error.code}`, { cause: error })
    },
  )
  if (exitCode !== 0) throw new HookError(`Command failed: exit code ${exitCode}`)
}
