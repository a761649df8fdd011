import { spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { extname } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

/** Connects to ports inside one network namespace. */
export interface NamespaceDialer extends Disposable {
  /** The port on the loopback of the namespace, over IPv4 or else IPv6. */
  dial(port: number): Promise<Socket>
}

interface Answer {
  readonly id: number
  readonly error?: string
}

const PROGRAM = fileURLToPath(new URL(`child/dial${extname(import.meta.filename)}`, import.meta.url))

/** A connection could not be made inside the namespace. */
class NamespaceDialError extends Error {
  override readonly name = 'NamespaceDialError'
}

/**
 * Dials inside the network namespace of a process. A process enters a namespace as a whole, so a child does it and hands its connections
 * over. It ends with the dialer, or with us.
 */
export function openNamespaceDialer(pid: number): NamespaceDialer {
  const argv = ['--target', String(pid), '--net', '--', process.execPath, PROGRAM]
  const child = spawn('nsenter', argv, { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
  const waiting = new Map<number, PromiseWithResolvers<Socket>>()
  let lastId = 0
  let ended: string | undefined
  const end = (why: string) => {
    ended ??= why
    for (const { reject } of waiting.values()) reject(new NamespaceDialError(ended))
    waiting.clear()
  }
  child.once('error', (error) => end(`cannot enter the network namespace: ${error.message}`))
  child.once('exit', () => end('cannot enter the network namespace of the pod: it ended'))
  child.on('message', (message, handle) => {
    const { id, error } = message as Answer
    const asked = waiting.get(id)
    waiting.delete(id)
    if (handle === undefined) asked?.reject(new NamespaceDialError(error ?? 'no connection'))
    else if (asked === undefined) (handle as Socket).destroy()
    else asked.resolve(handle as Socket)
  })
  return {
    async dial(port) {
      if (ended !== undefined) throw new NamespaceDialError(ended)
      lastId += 1
      const asked = Promise.withResolvers<Socket>()
      waiting.set(lastId, asked)
      child.send({ id: lastId, port })
      return await asked.promise
    },
    [Symbol.dispose]() {
      end('the dialer was closed')
      if (child.connected) child.disconnect()
      child.kill('SIGKILL')
    },
  }
}
