import type { Clock } from '../../../base/async/clock.ts'
import { waitForShared } from '../../../base/async/wait-for-shared.ts'
import { X509Certificate } from 'node:crypto'
import type { CredentialPluginCall, PluginCertificate } from '../client-metrics.ts'
import type { ProcessRequest, ProcessResult } from '../../../system/processes/run-process.ts'
import type { KubeCredentials } from '../transport/kube-credentials.ts'
import type { ExecPlugin } from './kubeconfig.ts'
import { KubeconfigError } from './kubeconfig.ts'
import { parseExecAnswer } from './parse-exec-answer.ts'

export interface ExecCredentialsDeps {
  readonly plugin: ExecPlugin
  /** The cluster, as plugins that ask for it get it. */
  readonly clusterInfo: () => Promise<object>
  readonly run: (request: ProcessRequest, signal: AbortSignal) => Promise<ProcessResult>
  /** The agent's own, to which that of the file is added. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** A run serves all who wait for it, so it does not end with the one who asked first. */
  readonly signal: AbortSignal
  readonly clock: Clock
  /** Called after each run. */
  readonly onPluginCall?: (call: CredentialPluginCall) => void
  readonly onPluginCertificate?: (given: PluginCertificate) => void
}

interface Kept {
  readonly credentials: KubeCredentials
  readonly until: number
}

// What Go says of a program that a signal ended.
const SIGNALLED = -1
const RUN_LIMIT_MS = 60_000
// What does not end is cut off and then makes no sense.
const MAX_OUTPUT_BYTES = 1024 * 1024

/** KubeCredentials of a program, kept as long as it says. What it writes is never shown. */
export class ExecCredentials {
  readonly #deps: ExecCredentialsDeps
  #kept: Kept | undefined
  #running: Promise<KubeCredentials> | undefined
  /** The last certificate that it gave. */
  #shown: { readonly pem: string; readonly validFrom: number } | undefined

  constructor(deps: ExecCredentialsDeps) {
    this.#deps = deps
  }

  async current(signal: AbortSignal): Promise<KubeCredentials> {
    const kept = this.#kept
    if (kept !== undefined && this.#deps.clock.now() < kept.until) return kept.credentials
    this.#running ??= this.#ask().finally(() => (this.#running = undefined))
    return await waitForShared(this.#running, signal)
  }

  forget(): void {
    this.#kept = undefined
  }

  async #ask(): Promise<KubeCredentials> {
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
    } catch (error) {
      if (signal.aborted) throw signal.reason
      this.#deps.onPluginCall?.({ status: toCallStatus(error), code: 1 })
      // What was thrown has the arguments in it, which may be secrets.
      throw this.#fault(`it cannot be started, or did not end within ${RUN_LIMIT_MS / 1000} s`)
    }
    const isDone = result.exitCode === 0
    this.#deps.onPluginCall?.({
      status: isDone ? 'no_error' : 'plugin_execution_error',
      code: result.exitCode ?? SIGNALLED,
    })
    if (!isDone) throw this.#fault(`it ended with exit code ${result.exitCode ?? 'none'}, expected 0`)
    const { credentials, expiresAt } = parseExecAnswer(result.stdout, plugin.apiVersion, (problem) =>
      this.#fault(problem),
    )
    this.#reportCertificate(credentials)
    this.#kept = { credentials, until: expiresAt ?? Infinity }
    return credentials
  }

  /** One that cannot be read is the server's to refuse. */
  #reportCertificate({ certificate }: KubeCredentials): void {
    const { onPluginCertificate, clock } = this.#deps
    if (onPluginCertificate === undefined || certificate === undefined) return
    if (certificate.certificatePem === this.#shown?.pem) return
    const leaf = parseLeaf(certificate.certificatePem)
    if (leaf === undefined) return
    const replaced = this.#shown?.validFrom
    this.#shown = { pem: certificate.certificatePem, validFrom: leaf.validFromDate.getTime() }
    onPluginCertificate({
      expiresAt: leaf.validToDate.getTime(),
      replacedAgeSeconds: replaced === undefined ? undefined : (clock.now() - replaced) / 1000,
    })
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

function parseLeaf(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem)
  } catch {
    return undefined
  }
}

function toCallStatus(error: unknown): CredentialPluginCall['status'] {
  const { cause } = Error.isError(error) ? error : { cause: undefined }
  const isMissing = [error, cause].some((each) => Error.isError(each) && 'code' in each && each.code === 'ENOENT')
  return isMissing ? 'plugin_not_found_error' : 'client_internal_error'
}
