import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import process from 'node:process'

/** An answer of the child process: a failure, with its code where the system gave one. */
export class GuardedFileError extends Error {
  override readonly name = 'GuardedFileError'
  readonly code: string | undefined

  constructor(message: string, code?: string) {
    super(message)
    this.code = code
  }
}

interface Waiting {
  readonly onProgress: (entries: number) => void
  readonly resolve: (result: unknown) => void
  readonly reject: (error: Error) => void
}

interface Answer {
  readonly progress?: number
  readonly result?: unknown
  readonly error?: { readonly message: string; readonly code?: string }
}

const MAX_COMPLAINT = 1000

/** One child process that does one request at a time. It ends when its stdin does, so it never outlives the agent by more than its last call. */
export class GuardedProcess {
  readonly #child: ChildProcess
  #pending: Buffer[] = []
  #complaint = ''
  #waiting: Waiting | undefined
  #isEnded = false
  /** Resolves when the kernel has let go of it, which a process in an uninterruptible call may put off for ever. */
  readonly gone: Promise<void>

  constructor(argv: readonly string[]) {
    const [file = '', ...args] = argv
    // Its own process group, so that a mount it started is killed with it.
    this.#child = spawn(file, args, { detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
    this.gone = new Promise((resolve) => {
      this.#child.once('exit', () => resolve())
      this.#child.once('error', (error) => {
        this.#end(`its process cannot be started: ${error.message}`)
        resolve()
      })
    })
    this.#child.once('close', (code, signal) => this.#end(`its process ended with ${signal ?? `exit code ${code}`}`))
    // Without a descriptor to spare there are no streams, only the error above.
    this.#child.stdin?.on('error', () => {}) // Its end reports it.
    this.#child.stdout?.on('data', (chunk: Buffer) => this.#receive(chunk))
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#complaint = (this.#complaint + chunk.toString()).slice(-MAX_COMPLAINT)
    })
  }

  get isGone(): boolean {
    return this.#isEnded || this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  run(request: unknown, onProgress: (entries: number) => void): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#waiting = { onProgress, resolve, reject }
      this.#child.stdin?.write(`${JSON.stringify(request)}\n`)
    })
  }

  /** Kills it with all it started, and waits for nothing: whatever it is stuck in must not hold us too. */
  kill(): void {
    const { pid } = this.#child
    // Once it has ended, its number may belong to another process.
    if (pid !== undefined && !this.isGone) process.kill(-pid, 'SIGKILL')
    this.#child.unref()
    for (const stream of [this.#child.stdin, this.#child.stdout, this.#child.stderr]) stream?.destroy()
    this.#end('its process was killed')
  }

  #end(how: string): void {
    this.#isEnded = true
    const said = this.#complaint.trim()
    this.#take()?.reject(new GuardedFileError(`Cannot finish: ${how}${said === '' ? '' : `: ${said}`}`))
  }

  #receive(chunk: Buffer): void {
    const end = chunk.lastIndexOf('\n')
    this.#pending.push(chunk)
    if (end < 0) return
    const all = Buffer.concat(this.#pending)
    const whole = all.length - (chunk.length - end - 1)
    this.#pending = whole === all.length ? [] : [all.subarray(whole)]
    for (const line of all.toString('utf8', 0, whole - 1).split('\n')) this.#hear(JSON.parse(line) as Answer)
  }

  #hear({ progress, result, error }: Answer): void {
    if (progress !== undefined) this.#waiting?.onProgress(progress)
    else if (error === undefined) this.#take()?.resolve(result)
    else this.#take()?.reject(new GuardedFileError(error.message, error.code))
  }

  #take(): Waiting | undefined {
    const waiting = this.#waiting
    this.#waiting = undefined
    return waiting
  }
}
