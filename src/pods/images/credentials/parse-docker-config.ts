import type { KeyringEntry } from './compute-credentials.ts'
import type { Login } from './credential.ts'
import { isRecord } from '../../../base/document/is-record.ts'

/** The logins of a docker configuration, and what could not be used of it in words that hold no secret. */
export interface DockerConfig {
  readonly logins: readonly KeyringEntry<Login>[]
  readonly problems: readonly string[]
}

/** A text that is no docker configuration. */
export class DockerConfigError extends Error {
  override readonly name = 'DockerConfigError'
}

/** config.json has its logins under "auths"; the older .dockercfg is what stands there. */
export type DockerConfigForm = 'config.json' | '.dockercfg'

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

/** Reads the logins of a docker configuration. An entry that makes no sense is left out and reported; the others count. */
export function parseDockerConfig(text: string, form: DockerConfigForm): DockerConfig {
  const root = parseObject(text)
  const auths = form === 'config.json' ? (root['auths'] ?? {}) : root
  if (!isRecord(auths)) throw new DockerConfigError('"auths" is not an object, expected one with a registry a key')
  const logins: KeyringEntry<Login>[] = []
  const problems: string[] = []
  for (const [location, entry] of Object.entries(auths)) {
    const login = parseLogin(entry)
    if (typeof login === 'string') problems.push(`${location}: ${login}`)
    else logins.push({ location, value: login })
  }
  return { logins, problems }
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  let root: unknown
  try {
    root = JSON.parse(text)
  } catch {
    // Without the parser's own words: they quote the text, which holds passwords.
    throw new DockerConfigError('not JSON')
  }
  if (!isRecord(root)) throw new DockerConfigError('not a JSON object')
  return root
}

/** A login, or why it is none. "auth" wins over a name and a password beside it. */
function parseLogin(entry: unknown): Login | string {
  if (!isRecord(entry)) return 'expected an object'
  const { username = '', password = '', auth = '' } = entry
  if (typeof username !== 'string' || typeof password !== 'string' || typeof auth !== 'string')
    return 'expected username, password and auth to be texts'
  if (auth === '') return { username, password }
  const encoded = auth.trim()
  const decoded = BASE64.test(encoded) ? Buffer.from(encoded, 'base64').toString('utf8') : ''
  const colon = decoded.indexOf(':')
  if (colon === -1) return 'expected auth to be the base64 of username:password'
  return { username: decoded.slice(0, colon), password: decoded.slice(colon + 1) }
}
