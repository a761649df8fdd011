import type { Clock } from '../../../base/async/clock.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import type { Settings } from '../../../model/config/load-configuration.ts'
import { parseImageName, toRepository } from '../../../model/pod/parse-image-name.ts'
import { computeCredentials } from './compute-credentials.ts'
import type { Login } from './credential.ts'
import { NodeCredentials } from './node-credentials.ts'
import type { NodeCredentialsDeps } from './node-credentials.ts'

interface NodeLoginsDeps {
  readonly settings: Settings
  readonly host: { readIfPresent: NodeCredentialsDeps['read'] }
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly workingDirectory: string
  readonly clock: Clock
  readonly log: Logger
}

/** The logins of the node, from the places where Docker's own tools keep them. */
export function createNodeCredentials(deps: NodeLoginsDeps): NodeCredentials {
  const { settings, host, environment, workingDirectory, clock, log } = deps
  return new NodeCredentials({
    read: (path, maxBytes) => host.readIfPresent(path, maxBytes),
    folders: { root: settings.flags.rootDir, working: workingDirectory, home: environment['HOME'] ?? '/root' },
    clock,
    log,
  })
}

/** The logins of the node that may open the repository of an image, the most specific first. */
export async function findImageLogins(node: Pick<NodeCredentials, 'logins'>, image: string): Promise<readonly Login[]> {
  return computeCredentials(await node.logins(), toRepository(parseImageName(image)))
}
