/**
 * The child process of GuardedFiles: one request per line on stdin, done with calls that block, answered by lines on stdout. It ends with its
 * stdin, so with the agent. It imports little, since its start is part of the start of a pod; "node:process" not at all in here: that
 * import opens the standard streams, which makes them such that reading them no longer waits.
 */
import { readSync, writeSync } from 'node:fs'
import { operations } from './operations.ts'

const ENTRIES_PER_PROGRESS = 100
const NEWLINE = 0x0a

/** The next line of stdin; undefined at its end. */
function createLineReader(): () => string | undefined {
  const chunk = Buffer.alloc(65_536)
  let pending = Buffer.alloc(0)
  return () => {
    for (;;) {
      const end = pending.indexOf(NEWLINE)
      if (end >= 0) {
        const line = pending.toString('utf8', 0, end)
        pending = pending.subarray(end + 1)
        return line
      }
      const count = readSync(0, chunk)
      if (count === 0) return undefined
      pending = Buffer.concat([pending, chunk.subarray(0, count)])
    }
  }
}

function report(answer: unknown): void {
  const bytes = Buffer.from(`${JSON.stringify(answer)}\n`)
  for (let written = 0; written < bytes.length;) written += writeSync(1, bytes, written)
}

async function answer(line: string): Promise<void> {
  let entries = 0
  const onEntry = () => {
    entries += 1
    if (entries % ENTRIES_PER_PROGRESS === 0) report({ progress: entries })
  }
  try {
    const { operation, request } = JSON.parse(line) as { operation: keyof typeof operations; request: never }
    const run = await operations[operation]()
    report({ result: run(request, onEntry) ?? null })
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException
    // It cannot be reported: the agent is gone.
    if (code === 'EPIPE') throw error
    report({ error: { message, code } })
  }
}

// Modes are what the requests say.
process.umask(0)
void answerAll()

async function answerAll(): Promise<void> {
  const readLine = createLineReader()
  for (let line = readLine(); line !== undefined; line = readLine()) await answer(line)
}
