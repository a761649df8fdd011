import { randomUUID } from 'node:crypto'
import process from 'node:process'
import { systemClock } from '../../../base/async/clock.ts'
import { KUBERNETES_VERSION } from '../../../model/config/flags/version-flag.ts'
import { openAppendedFile } from '../../../system/files/append-file.ts'
import { listAgentPods } from '../agent/agent-client.ts'
import type { ServedApi } from '../node-deps.ts'
import { createLogger } from '../../../base/telemetry/create-logger.ts'
import type { LogFields } from '../../../base/telemetry/logger.ts'

const LOOPBACK = '127.0.0.1'

/** Serves the Kubernetes API of a standalone node, in this process, on loopback and on the addresses for other machines. */
export async function serveApi(random: () => number, api: ServedApi, signal: AbortSignal): Promise<void> {
  // Loaded only here: the other commands need not spend the time and memory.
  const { adminIdentity, nodeIdentity, readerIdentity, runApiServer } =
    await import('../../../api-server/serving/run-api-server.ts')
  using file = openAppendedFile(api.logFile)
  const log = createLogger({
    format: 'text',
    program: 'api',
    verbosity: 2,
    clock: systemClock,
    pid: process.pid,
    write: (line) => file.write(line),
  })
  const errors = (message: string, fields: LogFields = {}) => {
    log.error(message, fields)
    const { error } = fields
    api.onError(error instanceof Error ? `${message}: ${error.message}` : message)
  }
  await runApiServer(
    {
      folder: api.folder,
      address: LOOPBACK,
      port: api.port,
      alsoOn: api.addresses,
      ...(api.addresses[0] === undefined ? {} : { advertisedAddress: api.addresses[0] }),
      servingNames: () => [api.nodeName, ...api.addresses],
      identities: [
        adminIdentity(api.adminKubeconfig),
        readerIdentity(api.readerKubeconfig),
        nodeIdentity(api.agentKubeconfig, api.nodeName),
      ],
      nodeName: api.nodeName,
      hasScheduler: true,
      serviceRange: api.serviceRange,
      hasServiceAddress: api.hasServiceAddress,
      // The agent listens nowhere else, whatever address its Node has; its certificate is for its name.
      kubeletAddress: api.addresses[0] ?? LOOPBACK,
      staticPods: (s) => listAgentPods(api, s),
      kubeletTrust: () => ({ servername: api.nodeName }),
      version: KUBERNETES_VERSION,
      clock: systemClock,
      log: { ...log, error: errors },
      newUid: randomUUID,
      random,
      switchedOff: api.switchedOff,
      baseClasses: { storage: api.storageClass, ingress: api.ingressClass },
      onReady: api.onReady,
    },
    signal,
  )
}
