import type { Clock } from '../../base/async/clock.ts'
import { withDeadline } from '../../base/async/deadline.ts'
import { GrpcChannel } from '../../protocols/grpc/grpc-channel.ts'
import { toGrpcMethod } from '../../protocols/grpc/grpc-method.ts'
import { waitForReady } from '../../protocols/grpc/grpc-connection.ts'
import { RegistrationDefinition } from './generated/plugin-registration.ts'
import { SocketGoneError } from './socket-gone-error.ts'
import type { Plugin, PluginHandler, PluginHandlers } from './plugin-handler.ts'
import { errorText } from '../../base/telemetry/error-text.ts'

export interface RegisterPluginDeps {
  readonly handlers: PluginHandlers
  readonly clock: Clock
}

/** A plugin in use, and the handler that uses it. */
export interface RegisteredPlugin {
  readonly plugin: Plugin
  readonly handler: PluginHandler
}

const CONNECT_MS = 10_000
const INFO_MS = 1000
const NOTIFY_MS = 5000
const { methods, fullName } = RegistrationDefinition
const getInfo = toGrpcMethod(fullName, methods.getInfo)
const notifyRegistrationStatus = toGrpcMethod(fullName, methods.notifyRegistrationStatus)

/** Asks the plugin behind a socket what it is, takes it into use and reports the result to it. */
export async function registerPlugin(
  { handlers, clock }: RegisterPluginDeps,
  socketPath: string,
  signal: AbortSignal,
): Promise<RegisteredPlugin> {
  using channel = new GrpcChannel({ target: `unix://${socketPath}`, clock })
  const notify = (pluginRegistered: boolean, error: string) =>
    channel.unary(notifyRegistrationStatus, { pluginRegistered, error }, { timeoutMs: NOTIFY_MS }, signal)
  const limit = { clock, ms: CONNECT_MS, what: `the connection of plugin "${socketPath}"` }
  await withDeadline(limit, (s) => waitForReady(channel, s), signal)
  const info = await channel.unary(getInfo, {}, { timeoutMs: INFO_MS }, signal)
  const { type, name, endpoint, supportedVersions: versions } = info
  const plugin: Plugin = { type, name, endpoint: endpoint === '' ? socketPath : endpoint, versions }
  let handler: PluginHandler
  try {
    handler = findHandler(handlers, plugin)
    await handler.register(plugin, signal)
  } catch (error) {
    signal.throwIfAborted()
    await notify(false, errorText(error))
    throw error
  }
  try {
    await notify(true, '')
  } catch (error) {
    // It does not know that it is in use, and will go or try again. When only the agent ends, the next one asks it again.
    if (!signal.aborted || signal.reason instanceof SocketGoneError) await handler.deregister(plugin)
    throw error
  }
  return { plugin, handler }
}

function findHandler(handlers: PluginHandlers, { type, name }: Plugin): PluginHandler {
  const handler = handlers.get(type)
  if (handler !== undefined) return handler
  const known = handlers.size === 0 ? 'none' : [...handlers.keys()].join(', ')
  throw new Error(`Cannot register plugin "${name}": type "${type}" is not supported, supported types: ${known}`)
}
