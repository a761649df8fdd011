import type { Clock } from '../../async/clock.ts'
import { waitForShared } from '../../async/wait-for-shared.ts'
import type { ProcessRequest, ProcessResult } from '../../host/run-process.ts'
import type { Credentials } from '../transport/credentials.ts'
import type { ExecPlugin } from './kubeconfig.ts'
import { KubeconfigError } from './kubeconfig.ts'
import { parseExecAnswer } from './parse-exec-answer.ts'

export interface ExecCredentialsDeps {
  readonly plugin: ExecPlugin
  /** What plugins that ask for it are told of the cluster. */
  readonly clusterInfo: () => Promise<object>
  readonly run: (request: ProcessRequest, signal: AbortSignal) => Promise<ProcessResult>
  /** The agent's own, to which that of the file is added. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** A run serves all who wait for it, so it does not end with the one who asked first. */
  readonly signal: AbortSignal
  readonly clock: Clock
}

interface Kept {
  readonly credentials: Credentials
  readonly until: number
}

const RUN_LIMIT_MS = 60_000
// What does not end is cut off and then makes no sense.
const MAX_OUTPUT_BYTES = 1024 * 1024

/** Credentials of a program, kept as long as it says. What it writes is never shown. */
export class ExecCredentials {
  readonly #deps: ExecCredentialsDeps
  #kept: Kept | undefined
  #running: Promise<Credentials> | undefined

  constructor(deps: ExecCredentialsDeps) {
    this.#deps = deps
  }

  async current(signal: AbortSignal): Promise<Credentials> {
    const kept = this.#kept
    if (kept !== undefined && this.#deps.clock.now() < kept.until) return kept.credentials
    this.#running ??= this.#ask().finally(() => (this.#running = undefined))
    return await waitForShared(this.#running, signal)
  }

  forget(): void {
    this.#kept = undefined
  }

  async #ask(): Promise<Credentials> {
    const { plugin, run, environment, signal } = this.#deps
    const request: ProcessRequest = {
      argv: [plugin.command, ...plugin.args],
      environment: { ...environment, ...plugin.env, KUBERNETES_EXEC_INFO: await this.#execInfo() },
      deadlineMs: RUN_LIMIT_MS,
      maxOutputBytes: MAX_OUTPUT_BYTES,
    }
    let result: ProcessResult
    try {
      result = await run(request, signal)
    } catch {
      if (signal.aborted) throw signal.reason
      // What was thrown has the arguments in it, which may be secrets.
      throw this.#fault(`it cannot be started, or did not end within ${RUN_LIMIT_MS / 1000} s`)
    }
    if (result.exitCode !== 0) throw this.#fault(`it ended with exit code ${result.exitCode ?? 'none'}, expected 0`)
    const { credentials, expiresAt } = parseExecAnswer(result.stdout, plugin.apiVersion, (problem) =>
      this.#fault(problem),
    )
    this.#kept = { credentials, until: expiresAt ?? Infinity }
    return credentials
  }

  async #execInfo(): Promise<string> {
    const { plugin, clusterInfo } = this.#deps
    const spec = { interactive: false, ...(plugin.provideClusterInfo && { cluster: await clusterInfo() }) }
    return JSON.stringify({ apiVersion: plugin.apiVersion, kind: 'ExecCredential', spec })
  }

  #fault(problem: string): KubeconfigError {
    const { command, installHint } = this.#deps.plugin
    const hint = installHint === '' ? '' : `\n${installHint}`
    return new KubeconfigError(`Cannot get credentials from the program "${command}": ${problem}${hint}`)
  }
}
