import { readdir, readFile, readlink } from 'node:fs/promises'

/** What stands before a command line to run it in the lab whose first process is this one. */
export function enterArguments(initPid: number): readonly string[] {
  return ['nsenter', '--target', String(initPid), '--net', '--mount', '--pid', '--uts', '--']
}

/** The pid as we see it of what nsenter started: with --pid it forks. */
export async function childPid(parent: number): Promise<number | undefined> {
  const children = await readFile(`/proc/${parent}/task/${parent}/children`, 'utf8').catch(() => '')
  const [first] = children.trim().split(' ')
  return first === undefined || first === '' ? undefined : Number(first)
}

/** The pid as we see it of a process that is known by its pid inside the lab. */
export async function outerPid(initPid: number, inside: number): Promise<number | undefined> {
  const namespace = await pidNamespace(`/proc/${initPid}/root/proc/${inside}`)
  if (namespace === undefined) return undefined
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
    // Our number, the lab's number, and one more for a container, which has a namespace of its own.
    const numbers = /^NSpid:\s+(.*)$/m.exec(status)?.[1]?.split(/\s+/) ?? []
    if (numbers[1] === String(inside) && (await pidNamespace(`/proc/${pid}`)) === namespace) return Number(pid)
  }
  return undefined
}

async function pidNamespace(folder: string): Promise<string | undefined> {
  return await readlink(`${folder}/ns/pid`).catch(() => undefined)
}
