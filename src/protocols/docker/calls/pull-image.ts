import { AbortScope } from '../../../base/async/abort-scope.ts'
import type { Clock } from '../../../base/async/clock.ts'
import { isRecord } from '../../../base/document/is-record.ts'
import { CriCallError } from '../../cri/cri-call-error.ts'
import type { AuthConfig } from '../../cri/generated/runtime-v1.ts'
import type { DockerDeps } from '../docker-deps.ts'
import { parseImageReference } from '../read/image-reference.ts'
import { readJsonLines } from './read-json-lines.ts'

interface Pull {
  readonly name: string
  readonly auth: AuthConfig | undefined
}

const LONGEST_CHECK_MS = 10_000
// Answers of a registry that is away, or busy, rather than of one that refuses.
const UNAVAILABLE: ReadonlySet<unknown> = new Set([502, 503, 504])

/** Pulls one tag or digest. Docker reports success before it begins: what went wrong stands in the lines of its answer. */
export async function pullReference(deps: DockerDeps, { name, auth }: Pull, signal: AbortSignal): Promise<void> {
  const { repository, version } = parseImageReference(name)
  const query = { fromImage: repository, tag: version }
  const headers = { 'X-Registry-Auth': encodeAuth(auth) }
  using scope = new AbortScope(signal)
  const idle = new IdleLimit(deps, scope)
  const download = deps.downloads.begin(name)
  try {
    // Closing the connection is what ends a pull.
    const response = await deps.api.open({ method: 'POST', path: '/images/create', query, headers }, scope.signal)
    for await (const line of readJsonLines(response)) {
      idle.touch()
      const fault = findFault(line)
      if (fault !== undefined) throw new CriCallError('pullImage', 'Unknown', fault)
      download.note(line)
    }
  } catch (error) {
    throw scope.signal.aborted ? scope.signal.reason : error
  } finally {
    download.end()
  }
}

/** Ends a pull that makes no progress. */
class IdleLimit {
  readonly #clock: Clock
  readonly #longestMs: number
  #touchedAt: number

  constructor({ clock, pullProgressMs }: Pick<DockerDeps, 'clock' | 'pullProgressMs'>, scope: AbortScope) {
    this.#clock = clock
    this.#longestMs = pullProgressMs
    this.#touchedAt = clock.monotonic()
    this.#run(scope).catch(() => {})
  }

  touch(): void {
    this.#touchedAt = this.#clock.monotonic()
  }

  async #run(scope: AbortScope): Promise<void> {
    const checkMs = Math.min(LONGEST_CHECK_MS, this.#longestMs)
    while (this.#clock.monotonic() - this.#touchedAt < this.#longestMs) await this.#clock.sleep(checkMs, scope.signal)
    const detail = `the pull made no progress for ${this.#longestMs / 1000} s`
    scope.abort(new CriCallError('pullImage', 'DeadlineExceeded', detail))
  }
}

function findFault({ errorDetail, error }: Readonly<Record<string, unknown>>): string | undefined {
  const detail = isRecord(errorDetail) ? errorDetail : {}
  const message = typeof detail['message'] === 'string' ? detail['message'] : error
  if (typeof message !== 'string') return undefined
  return UNAVAILABLE.has(detail['code']) ? `RegistryUnavailable: ${message}` : message
}

/** Without a login Docker wants an empty one. */
function encodeAuth(auth: AuthConfig | undefined): string {
  const login = auth === undefined ? {} : toLogin(auth)
  // With padding: Docker refuses it without.
  return Buffer.from(JSON.stringify(login)).toString('base64').replaceAll('+', '-').replaceAll('/', '_')
}

function toLogin({ username, password, auth, serverAddress, identityToken, registryToken }: AuthConfig) {
  const decoded = Buffer.from(auth, 'base64').toString()
  const colon = decoded.indexOf(':')
  const pair =
    colon === -1
      ? { username, password }
      : { username: decoded.slice(0, colon), password: decoded.slice(colon + 1).replace(/\0+$/, '') }
  return {
    ...(username === '' ? pair : { username, password }),
    ...(serverAddress === '' ? {} : { serveraddress: serverAddress }),
    ...(identityToken === '' ? {} : { identitytoken: identityToken }),
    ...(registryToken === '' ? {} : { registrytoken: registryToken }),
  }
}
