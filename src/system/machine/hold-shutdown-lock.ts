import { once } from 'node:events'
import { ProcessError, spawnPiped } from '../processes/run-process.ts'

/** A lock of logind that delays shutdowns until it is disposed, or until this process is gone. */
export interface ShutdownLock extends Disposable {
  /** True when it went without having been disposed. */
  readonly isLost: boolean
}

// Logind's words for it: what is delayed, by whom, why, and that it is a delay and no refusal.
const INHIBIT = [
  'systemd-inhibit',
  '--what=shutdown',
  '--who=kubelet',
  '--why=Kubelet needs time to handle node shutdown',
  '--mode=delay',
]

/**
 * Takes the lock. It is a descriptor, which Node cannot receive over a socket, so a child holds it: as long as the input of "cat" is open,
 * and so no longer than we live (docs/decisions/0017-node-shutdown.md).
 */
export async function holdShutdownLock(
  options: { readonly onLost: () => void; readonly program?: readonly string[] },
  signal: AbortSignal,
): Promise<ShutdownLock> {
  const argv = [...(options.program ?? INHIBIT), 'cat']
  const child = await spawnPiped(argv, { stdio: ['pipe', 'pipe', 'pipe'] })
  const lock = { isHeld: false, isLost: false }
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => (said = `${said}${chunk.toString()}`.slice(-1000)))
  child.stdin.on('error', () => {}) // Its end says more.
  const ended = once(child, 'close').then(() => {
    if (!lock.isHeld) throw new ProcessError(argv, `ended before it held the lock: ${said.trim()}`)
    lock.isLost = true
    options.onLost()
  })
  const release = () => {
    lock.isHeld = false
    child.stdin.end()
  }
  try {
    // What comes back shows that the program runs, which it does only when the lock is held.
    child.stdin.write('held\n')
    await Promise.race([once(child.stdout, 'data', { signal }), ended])
  } catch (error) {
    release()
    child.kill('SIGKILL')
    throw child.pid === undefined ? new ProcessError(argv, 'no such program can be started', { cause: error }) : error
  } finally {
    ended.catch(() => {})
  }
  lock.isHeld = true
  return {
    get isLost() {
      return lock.isLost
    },
    [Symbol.dispose]: release,
  }
}
