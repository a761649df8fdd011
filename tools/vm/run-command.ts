import { spawn } from 'node:child_process'

export interface CommandResult {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

export interface CommandOptions {
  readonly stdin?: string | Buffer
  readonly deadlineMs?: number
  readonly cwd?: string
  readonly signal?: AbortSignal
}

const DEADLINE_MS = 600_000

/** Runs a program to its end, whatever that is; -1 where it was killed or could not be started. */
export async function attemptCommand(argv: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
  const [program = '', ...args] = argv
  const { stdin, deadlineMs = DEADLINE_MS, cwd, signal } = options
  const child = spawn(program, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(cwd === undefined ? {} : { cwd }),
    ...(signal === undefined ? {} : { signal }),
    timeout: deadlineMs,
    killSignal: 'SIGKILL',
  })
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text
    })
  // A program that ends without reading is judged by its exit code.
  child.stdin.on('error', () => {})
  child.stdin.end(stdin)
  return await new Promise((resolve) => {
    child.on('error', (error) => resolve({ exitCode: -1, stdout: output.stdout, stderr: error.message }))
    child.on('close', (exitCode) => resolve({ exitCode: exitCode ?? -1, ...output }))
  })
}

/** The same, for a program that has to succeed: what it printed, or an error with what it said. */
export async function runCommand(argv: readonly string[], options: CommandOptions = {}): Promise<string> {
  const { exitCode, stdout, stderr } = await attemptCommand(argv, options)
  if (exitCode === 0) return stdout
  throw new Error(`Cannot run "${argv.join(' ')}": ${stderr.trim() || `it ended with ${exitCode}`}`)
}
