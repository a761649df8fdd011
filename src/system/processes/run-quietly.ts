import { spawn } from 'node:child_process'

/** The exit code; 127 when there is no such program, 1 when a signal ended it. */
export async function runQuietly(program: string, args: readonly string[]): Promise<number> {
  const child = spawn(program, [...args], { stdio: 'ignore' })
  return await new Promise((resolve) => {
    child.once('error', () => resolve(127))
    child.once('exit', (code) => resolve(code ?? 1))
  })
}
