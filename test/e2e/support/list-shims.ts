import type { Lab } from '../lab/start-lab.ts'

const SCRIPT = `for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/cmdline 2> /dev/null; echo; done`

/** The ids for which shims of any containerd run in a lab. */
export async function listShims(lab: Lab): Promise<readonly string[]> {
  const { stdout } = await lab.runInside(['sh', '-c', SCRIPT])
  return stdout.split('\n').flatMap((line) => {
    const [program = '', ...args] = line.split(' ')
    const id = args[args.indexOf('-id') + 1]
    return program.endsWith('/containerd-shim-runc-v2') && args.includes('-id') && id !== undefined ? [id] : []
  })
}
