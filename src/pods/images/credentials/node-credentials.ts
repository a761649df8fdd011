import type { Clock } from '../../../base/async/clock.ts'
import type { ReadResult } from '../../../system/files/read-bounded-file.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import type { KeyringEntry } from './compute-credentials.ts'
import type { Login } from './credential.ts'
import { parseDockerConfig } from './parse-docker-config.ts'
import type { DockerConfigForm } from './parse-docker-config.ts'

export interface NodeCredentialsDeps {
  /** Undefined for a file that is not there. */
  readonly read: (path: string, maxBytes: number) => Promise<ReadResult | undefined>
  readonly folders: {
    readonly root: string
    readonly working: string
    readonly home: string
  }
  readonly clock: Clock
  readonly log: Logger
}

const KEPT_MS = 300_000
const LARGEST_FILE_BYTES = 1024 * 1024

/** The logins of the node itself, from the first docker configuration that makes sense. Read again when five minutes old. */
export class NodeCredentials {
  readonly #deps: NodeCredentialsDeps
  #kept: { readonly readAt: number; readonly logins: Promise<readonly KeyringEntry<Login>[]> } | undefined

  constructor(deps: NodeCredentialsDeps) {
    this.#deps = deps
  }

  logins(): Promise<readonly KeyringEntry<Login>[]> {
    const now = this.#deps.clock.monotonic()
    if (this.#kept === undefined || now - this.#kept.readAt >= KEPT_MS) {
      this.#kept = { readAt: now, logins: this.#readFirst() }
    }
    return this.#kept.logins
  }

  async #readFirst(): Promise<readonly KeyringEntry<Login>[]> {
    for (const [path, form] of listPaths(this.#deps.folders)) {
      const logins = await this.#read(path, form)
      if (logins !== undefined) return logins
    }
    return []
  }

  /** Undefined when the next file is to be tried. */
  async #read(path: string, form: DockerConfigForm): Promise<readonly KeyringEntry<Login>[] | undefined> {
    const { read, log } = this.#deps
    const result = await read(path, LARGEST_FILE_BYTES)
    if (result === undefined) return undefined
    try {
      if (result.kind !== 'content') throw new Error(result.reason)
      const { logins, problems } = parseDockerConfig(Buffer.from(result.bytes).toString('utf8'), form)
      if (problems.length > 0) log.warn('left out a login to a registry', { path, problems })
      return logins
    } catch (error) {
      log.warn('cannot use the logins of a docker configuration', { path, error })
      return undefined
    }
  }
}

function listPaths({ root, working, home }: NodeCredentialsDeps['folders']): readonly [string, DockerConfigForm][] {
  const files = [
    ...[root, working, `${home}/.docker`, '/.docker'].map((folder) => [folder, 'config.json'] as const),
    ...[root, working, home, '/'].map((folder) => [folder, '.dockercfg'] as const),
  ]
  return files.map(([folder, form]) => [`${folder.replace(/\/+$/, '')}/${form}`, form])
}
