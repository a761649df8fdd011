import { throwIfTransient } from '../../base/async/transient-errors.ts'
import { readdir, readFile, readlink, realpath } from 'node:fs/promises'
import { basename } from 'node:path'
import { readProcessIdentity } from './process-identity.ts'
import type { ProcessIdentity } from './process-identity.ts'

/** A process that containerd started to look after the containers of one sandbox. */
export interface ShimProcess {
  readonly process: ProcessIdentity
  /** The container or sandbox that it was started for. */
  readonly id: string
  readonly children: readonly ShimChild[]
}

interface ShimChild {
  readonly process: ProcessIdentity
  /** By its cgroup; undefined when that does not say. */
  readonly containerId: string | undefined
}

const CONTAINER_ID = /[0-9a-f]{64}/g

/**
 * The shims of the containerd at a socket that belong to a namespace of it. Only in our own mount namespace, where that path means that socket:
 * a containerd inside a container, which may have the same paths, is another one, and so are processes of pods that look like shims.
 */
export async function findShims(
  { socketPath, namespace }: { readonly socketPath: string; readonly namespace: string },
  proc = '/proc',
): Promise<readonly ShimProcess[]> {
  const socket = await realpath(socketPath)
  const ownMounts = await readlink(`${proc}/self/ns/mnt`)
  const shims: ShimProcess[] = []
  for (const pid of (await readdir(proc)).filter((name) => /^\d+$/.test(name))) {
    const shim = await readShimArguments(`${proc}/${pid}`)
    if (shim === undefined || shim.namespace !== namespace) continue
    if ((await readlink(`${proc}/${pid}/ns/mnt`).catch(() => '')) !== ownMounts) continue
    if ((await realpath(shim.address).catch(() => '')) !== socket) continue
    const process = await readProcessIdentity(Number(pid))
    if (process !== undefined) shims.push({ process, id: shim.id, children: await readChildren(proc, process.pid) })
  }
  return shims
}

/** Undefined for what is no shim that serves, and for what ends while it is read. */
async function readShimArguments(
  folder: string,
): Promise<{ readonly namespace: string; readonly id: string; readonly address: string } | undefined> {
  const [program = '', ...args] = (await readFile(`${folder}/cmdline`, 'utf8').catch(() => '')).split('\0')
  if (!basename(program).startsWith('containerd-shim-')) return undefined
  const valueOf = (flag: string) => args[args.indexOf(flag) + 1] ?? ''
  const found = { namespace: valueOf('-namespace'), id: valueOf('-id'), address: valueOf('-address') }
  const isComplete = ['-namespace', '-id', '-address'].every((flag) => args.includes(flag))
  // "start" and "delete" are short commands of the same program, which containerd waits for.
  return isComplete && !args.includes('start') && !args.includes('delete') ? found : undefined
}

async function readChildren(proc: string, pid: number): Promise<readonly ShimChild[]> {
  const threads = await readdir(`${proc}/${pid}/task`).catch(unlessTransient([]))
  const lists = await Promise.all(
    threads.map((thread) => readFile(`${proc}/${pid}/task/${thread}/children`, 'utf8').catch(unlessTransient(''))),
  )
  const children: ShimChild[] = []
  for (const child of lists.flatMap((list) => list.split(' ').filter((text) => text !== ''))) {
    const process = await readProcessIdentity(Number(child))
    const cgroups = await readFile(`${proc}/${child}/cgroup`, 'utf8').catch(() => '')
    const containerId = cgroups.match(CONTAINER_ID)?.at(-1)
    if (process !== undefined) children.push({ process, containerId })
  }
  return children
}

/** What has ended has nothing; what cannot be read for the moment may have children, and must not look as if it had none. */
function unlessTransient<T>(nothing: T): (error: unknown) => T {
  return (error) => {
    throwIfTransient(error)
    return nothing
  }
}
