import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import type { MountNamespace } from './mount-namespace.ts'

/** Mounts a file system whose server never answers, as a network file system does when its server is away. */
export async function mountDeadFileSystem(
  namespace: Pick<MountNamespace, 'enter'>,
  point: string,
): Promise<Disposable> {
  const server = openSync('/dev/fuse', 'r+')
  const [file = '', ...args] = namespace.enter
  const options = 'fd=3,rootmode=40000,user_id=0,group_id=0,allow_other'
  const mount = spawn(file, [...args, 'mount', '-i', '-t', 'fuse', '-o', options, 'dead', point], {
    stdio: ['ignore', 'ignore', 'inherit', server],
  })
  const [code] = (await once(mount, 'exit')) as [number]
  if (code !== 0) throw new Error(`Cannot mount a dead file system: mount ended with exit code ${code}`)
  // Without a process that could answer, the kernel fails all calls that hang in it.
  return { [Symbol.dispose]: () => closeSync(server) }
}
