import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { ProcessError } from './run-process.ts'

/** How a process ended. */
export interface ProcessExit {
  readonly exitCode: number | undefined
  readonly signal: string | undefined
}

/** A process that runs on its own; it stays when we leave. */
export interface StartedProcess {
  readonly pid: number
  /** Never rejects. */
  readonly exited: Promise<ProcessExit>
  /** False when it is gone already. */
  kill(signal: NodeJS.Signals): boolean
}

export interface StartRequest {
  readonly argv: readonly string[]
  /** Gets stdout and stderr, added at its end. */
  readonly logFile: string
  readonly environment?: Readonly<Record<string, string | undefined>>
}

/** Starts a program in a session of its own, so that neither our end nor a Ctrl-C meant for us reaches it. */
export async function startProcess(request: StartRequest): Promise<StartedProcess> {
  const [file = '', ...args] = request.argv
  const log = openSync(request.logFile, 'a', 0o640)
  try {
    const child = spawn(file, args, {
      detached: true,
      stdio: ['ignore', log, log],
      ...(request.environment === undefined ? {} : { env: request.environment }),
    })
    const exited = new Promise<ProcessExit>((resolve) => {
      child.on('exit', (code, signal) => resolve({ exitCode: code ?? undefined, signal: signal ?? undefined }))
    })
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve)
      child.once('error', (cause) => {
        reject(new ProcessError(request.argv, 'no such program can be started', { cause }))
      })
    })
    child.unref()
    return { pid: child.pid ?? 0, exited, kill: (signal) => child.kill(signal) }
  } finally {
    closeSync(log)
  }
}
