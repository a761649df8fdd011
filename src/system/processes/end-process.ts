import process from 'node:process'

/** What is needed of a process to end it. */
type EndingProcess = Pick<NodeJS.Process, 'getActiveResourcesInfo' | 'execve' | 'exit'>

// Node runs these in threads, and an exit waits for each thread: for a name server that does not answer, ten seconds and more.
const IN_A_THREAD = /^(GetAddrInfo|GetNameInfo|FS)Req/

/**
 * Ends this process at once, whatever its threads wait for: another program takes its place, whose only deed is to end with the exit
 * code. Listeners to "exit" are not called then.
 */
export function endProcess(exitCode: number, own: EndingProcess = process): never {
  if (own.getActiveResourcesInfo().some((name) => IN_A_THREAD.test(name))) {
    try {
      own.execve?.('/bin/sh', ['sh', '-c', `exit ${exitCode}`], {})
    } catch {
      // No shell: late is better than never.
    }
  }
  own.exit(exitCode)
}
