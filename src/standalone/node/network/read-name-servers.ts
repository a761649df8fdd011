import { readTextIfPresent } from '../../../system/files/files-and-folders.ts'

const FILE = '/etc/resolv.conf'
const MOST = 3

/** The name servers that the machine itself uses; our own would ask itself for ever. */
export async function readNameServers(own: readonly string[], file = FILE): Promise<readonly string[]> {
  return parseNameServers((await readTextIfPresent(file)) ?? '').filter((server) => !own.includes(server))
}

function parseNameServers(text: string): readonly string[] {
  const servers = [...text.matchAll(/^[ \t]*nameserver[ \t]+(\S+)/gm)].map(([, server = '']) => server)
  return [...new Set(servers)].slice(0, MOST)
}
