import { AbortScope } from '../../base/async/abort-scope.ts'
import type { Clock } from '../../base/async/clock.ts'
import { BackOff } from '../../base/async/back-off.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { registerPlugin } from './register-plugin.ts'
import type { RegisteredPlugin, RegisterPluginDeps } from './register-plugin.ts'
import { errorText } from '../../base/telemetry/error-text.ts'

export interface RunPluginDeps extends RegisterPluginDeps {
  readonly clock: Clock
  readonly log: Logger
  readonly onRegistered: () => void
}

/** The two ends of a plugin: only the first takes it out of use. */
export interface PluginSignals {
  readonly gone: AbortSignal
  readonly shutdown: AbortSignal
}

const RETRIES = { firstMs: 500, longestMs: 120_000 }

/** One plugin from when its socket appears until it is gone: registered, tried again as often as that fails, and taken out of use. */
export async function runPlugin(deps: RunPluginDeps, socketPath: string, signals: PluginSignals): Promise<void> {
  const { log, onRegistered } = deps
  using scope = new AbortScope(signals.shutdown)
  const end = () => scope.abort(signals.gone.reason as Error)
  signals.gone.addEventListener('abort', end, { once: true })
  if (signals.gone.aborted) end()
  try {
    const { plugin, handler } = await registerPatiently(deps, socketPath, scope.signal)
    const fields = { plugin: plugin.name, type: plugin.type, path: socketPath }
    log.info('plugin registered', fields)
    onRegistered()
    await untilAborted(scope.signal)
    if (!signals.gone.aborted) throw scope.signal.reason
    await handler.deregister(plugin)
    log.info('plugin is gone', fields)
  } catch (error) {
    if (signals.shutdown.aborted) throw signals.shutdown.reason
    if (!signals.gone.aborted || error !== signals.gone.reason)
      log.error('plugin could not be taken out of use', { path: socketPath, error })
  } finally {
    signals.gone.removeEventListener('abort', end)
  }
}

async function registerPatiently(
  deps: RunPluginDeps,
  socketPath: string,
  signal: AbortSignal,
): Promise<RegisteredPlugin> {
  const { clock, log } = deps
  let reported: string | undefined
  const backOff = new BackOff(RETRIES)
  for (;;) {
    try {
      return await registerPlugin(deps, socketPath, signal)
    } catch (error) {
      signal.throwIfAborted()
      const text = errorText(error)
      if (text !== reported) log.warn('plugin could not be registered, will try again', { path: socketPath, error })
      reported = text
    }
    await clock.sleep(backOff.next(), signal)
  }
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
