import { CriCallError } from '../../../protocols/cri/cri-call-error.ts'
import type { PodRuntime } from '../pod-runtime.ts'
import { HookError } from './hook-error.ts'
import type { HookRequest } from './hook-request.ts'
import { runHttpHook } from './run-http-hook.ts'

/** Runs a hook for as long as it takes; the signal is its only limit. Fails with a HookError when it did not do its work. */
export async function runHook(runtime: PodRuntime, request: HookRequest, signal: AbortSignal): Promise<void> {
  const { name, container } = request
  await runtime.noteStep(`${name} hook of container "${container.name}"`, () => run(runtime, request, signal))
}

async function run(runtime: PodRuntime, request: HookRequest, signal: AbortSignal): Promise<void> {
  const { exec, httpGet, sleep } = request.handler
  if (exec !== undefined) await runCommand(runtime, { ...request, command: exec.command ?? [] }, signal)
  else if (httpGet !== undefined) await runHttpHook(runtime, { ...request, httpGet }, signal)
  else if (sleep !== undefined) await runtime.clock.sleep(sleep.seconds * 1000, signal)
  else throw new HookError('Cannot run the hook: expected exec, httpGet or sleep')
}

async function runCommand(
  runtime: PodRuntime,
  { containerId, command }: { readonly containerId: string; readonly command: readonly string[] },
  signal: AbortSignal,
): Promise<void> {
  const exitCode = await runtime.calls.execSync({ containerId, cmd: [...command], timeout: 0n }, signal).then(
    (answer) => answer.exitCode,
    (error: unknown) => {
      if (!(error instanceof CriCallError)) throw error
      throw new HookError(`Cannot run the command: ${error.code}`, { cause: error })
    },
  )
  if (exitCode !== 0) throw new HookError(`Command failed: exit code ${exitCode}`)
}
