import type { Clock } from '../../base/async/clock.ts'
import type { Settings } from '../../model/config/load-configuration.ts'
import { CriCallError } from './cri-call-error.ts'
import { CgroupDriver } from './generated/runtime-v1.ts'
import type { CriClient } from './cri-client.ts'
import { checkRuntimeVersion } from './runtime-version.ts'
import type { RuntimeVersion } from './runtime-version.ts'
import type { Logger } from '../../base/telemetry/logger.ts'

interface StartDeps {
  readonly client: CriClient
  readonly settings: Settings
  readonly clock: Clock
  readonly log: Logger
}

const RETRY_MS = 200
const DRIVER_TRIES = 3
const DRIVER_PAUSE_MS = 2000

/** Waits for the runtime, as long as one call to it may take; a runtime that is not there by then ends the agent. */
export async function startRuntime(
  { client, settings, clock, log }: StartDeps,
  signal: AbortSignal,
): Promise<RuntimeVersion> {
  const { containerRuntimeEndpoint: endpoint, runtimeRequestTimeout } = settings.config
  const giveUpAt = clock.monotonic() + runtimeRequestTimeout
  for (let tries = 0; ; tries += 1) {
    try {
      const version = await checkRuntimeVersion(client, signal)
      log.info('runtime answers', { endpoint, runtime: version.name, version: version.version })
      return version
    } catch (error) {
      if (signal.aborted) throw signal.reason
      const starting = error instanceof CriCallError && (error.retryable || error.detail.includes('not initialized'))
      if (!starting || clock.monotonic() >= giveUpAt) {
        throw new Error(`Cannot use the container runtime at "${endpoint}"`, { cause: error })
      }
      if (tries === 0)
        log.warn('runtime does not answer yet, waiting', {
          endpoint,
          atMostSeconds: runtimeRequestTimeout / 1000,
          error,
        })
      await clock.sleep(RETRY_MS, signal)
    }
  }
}

/** The cgroup driver that the runtime uses, or the configured one when the runtime does not report it. */
export async function findCgroupDriver(
  { client, settings, onOld, clock, log }: StartDeps & { readonly onOld: () => void },
  signal: AbortSignal,
): Promise<'cgroupfs' | 'systemd'> {
  const configured = settings.config.cgroupDriver === 'systemd' ? 'systemd' : 'cgroupfs'
  for (let tries = 1; ; tries += 1) {
    try {
      const { linux } = await client.runtimeConfig({}, signal)
      if (linux === undefined) return configured
      return linux.cgroupDriver === CgroupDriver.SYSTEMD ? 'systemd' : 'cgroupfs'
    } catch (error) {
      if (signal.aborted) throw signal.reason
      if (error instanceof CriCallError && error.code === 'Unimplemented') {
        onOld()
        log.info('runtime does not report its cgroup driver, using the configured one', { cgroupDriver: configured })
        return configured
      }
      if (tries === DRIVER_TRIES) throw new Error('Cannot ask the runtime for its cgroup driver', { cause: error })
      await clock.sleep(DRIVER_PAUSE_MS, signal)
    }
  }
}
