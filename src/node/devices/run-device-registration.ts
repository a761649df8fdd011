import { join } from 'node:path'
import type { Clock } from '../../base/async/clock.ts'
import { TokenBucket } from '../../base/async/token-bucket.ts'
import { clearDevicePluginFolder, prepareWatchedSocket } from '../../system/directories/device-plugin-folder.ts'
import { runGrpcServer } from '../../protocols/grpc/run-grpc-server.ts'
import { toGrpcService } from '../../protocols/grpc/to-grpc-service.ts'
import type { DevicePlugins } from './device-plugins.ts'
import { RegistrationDefinition } from './generated/device-plugin-v1beta1.ts'
import type { Logger } from '../../base/telemetry/logger.ts'

export interface DeviceRegistrationDeps {
  /** Where the agent and its device plugins have their sockets. */
  readonly folder: string
  readonly plugins: Pick<DevicePlugins, 'register'>
  /** Why plugins cannot present themselves; undefined when they can. */
  readonly onProblem: (problem: string | undefined) => void
  readonly clock: Clock
  readonly log: Logger
}

// A plugin that presents itself without end would keep the node busy.
const LIMIT = { perSecond: 20, burst: 50 }

/** Listens for device plugins that present themselves, until the signal aborts. */
export async function runDeviceRegistration(deps: DeviceRegistrationDeps, signal: AbortSignal): Promise<void> {
  const { folder, plugins, onProblem, clock, log } = deps
  await clearDevicePluginFolder(folder).catch((error: unknown) => {
    log.error('cannot clear the folder of device plugins, going on with it as it is', { path: folder, error })
  })
  const service = toGrpcService(
    RegistrationDefinition,
    {
      async register({ resourceName, endpoint, version }) {
        const notice = { resource: resourceName, socketPath: join(folder, endpoint), versions: [version] }
        await plugins.register(notice, signal)
        return {}
      },
    },
    new TokenBucket({ ...LIMIT, clock }),
  )
  await runGrpcServer(
    {
      name: 'device plugins',
      socketPath: `${folder}/kubelet.sock`,
      services: [service],
      prepare: prepareWatchedSocket,
      onListening: () => onProblem(undefined),
      onFailed: (error) =>
        onProblem(`device registration error: device plugins cannot present themselves: ${error.message}`),
      clock,
      log,
    },
    signal,
  )
}
