import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, readlinkSync } from 'node:fs'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../src/base/async/clock.ts'
import { runProcessOrThrow } from '../../src/system/processes/run-process.ts'

/** A mount namespace that lasts as long as its block: what is mounted in it is gone with it, and never seen on the host. */
export interface MountNamespace extends AsyncDisposable {
  /** Put in front of a program to run it inside. */
  readonly enter: readonly string[]
  run(...argv: readonly string[]): Promise<string>
  /** Lines of its mount table below a folder. */
  mounts(folder: string): readonly string[]
}

export async function createMountNamespace(): Promise<MountNamespace> {
  // Dies with the test, and the namespace with it.
  const argv = ['--pdeathsig', 'KILL', 'unshare', '--mount', '--propagation', 'private', 'sleep', 'infinity']
  const keeper = spawn('/usr/bin/setpriv', argv, { stdio: 'ignore' })
  const exited = once(keeper, 'exit')
  const ours = readlinkSync('/proc/self/ns/mnt')
  // Until unshare became sleep, its mounts are not all private.
  while (nameOf(keeper.pid) !== 'sleep' || readlinkSync(`/proc/${keeper.pid}/ns/mnt`) === ours) await sleep(2)
  const enter = ['nsenter', `--mount=/proc/${keeper.pid}/ns/mnt`, '--']
  return {
    enter,
    async run(...command) {
      const request = { argv: [...enter, ...command], deadlineMs: 10_000 }
      return (await runProcessOrThrow(systemClock, request, new AbortController().signal)).stdout
    },
    mounts: (folder) =>
      readFileSync(`/proc/${keeper.pid}/mountinfo`, 'utf8')
        .split('\n')
        .filter((line) => (line.split(' ')[4] ?? '').startsWith(folder)),
    async [Symbol.asyncDispose]() {
      process.kill(keeper.pid ?? 0, 'SIGKILL')
      await exited
    },
  }
}

function nameOf(pid: number | undefined): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
  } catch {
    return ''
  }
}
