import { systemClock } from '../../base/async/clock.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { computeCredentials } from '../../pods/images/credentials/compute-credentials.ts'
import type { Login } from '../../pods/images/credentials/credential.ts'
import { NodeCredentials } from '../../pods/images/credentials/node-credentials.ts'
import { toRepository } from '../../model/pod/parse-image-name.ts'
import { readIfPresent } from '../../system/files/read-bounded-file.ts'

/** The logins for an image that an agent with this root directory finds on its node. */
export async function findNodeLogins(agentRoot: string, image: string): Promise<readonly Login[]> {
  const home = process.env['HOME'] ?? '/root'
  const credentials = new NodeCredentials({
    read: readIfPresent,
    folders: { root: agentRoot, working: '/', home },
    clock: systemClock,
    log: silentLogger,
  })
  return computeCredentials(await credentials.logins(), toRepository(image))
}
