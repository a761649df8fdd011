import { readFileSync } from 'node:fs'

const CONTEXTS = '/usr/share/containers/selinux/contexts'
const CONFIG = '/etc/selinux/config'

/** What SELinux has for files of containers, as in "system_u:object_r:container_file_t:s0"; undefined where its policy names none. */
export function readContainerContext(read: (path: string) => string | undefined = readIfThere): string | undefined {
  const policy = parseAssignments(read(CONFIG) ?? '').get('SELINUXTYPE') ?? 'targeted'
  const text = read(CONTEXTS) ?? read(`/etc/selinux/${policy}/contexts/lxc_contexts`) ?? ''
  return parseAssignments(text).get('file')
}

/** Lines such as name = "value", with comments. */
function parseAssignments(text: string): ReadonlyMap<string, string> {
  const lines = text.split('\n').flatMap((line) => {
    const [, name, value] = /^\s*(\w+)\s*=\s*"?([^"]*?)"?\s*$/.exec(line) ?? []
    return name === undefined || value === undefined || value === '' ? [] : [[name, value] as const]
  })
  return new Map(lines)
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
