import type { Clock } from '../../../base/async/clock.ts'
import { ApiReturn } from '../list-watch/api-return.ts'
import { KubeApiError, isNotFound } from '../kube-client.ts'
import type { KubeClient } from '../kube-client.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import type { Correlation } from './event-correlator.ts'
import type { NamedEvent } from './event-factory.ts'

export interface SendDeps {
  readonly client: KubeClient
  readonly clock: Clock
  readonly random: () => number
  /** Shared by all who use the same API. */
  readonly apiReturn?: ApiReturn
  readonly log: Logger
}

export type SendableEvent = Exclude<Correlation, { kind: 'drop' }>

const MOST_TRIES = 12
const RETRY_MS = 10_000

/**
 * Sends an event; while the server cannot be reached it is tried again, the others wait. An event that the server refuses is given up.
 * `patience` ends the waiting, `signal` the call that is under way. False when the server could not be reached to the end.
 */
export async function sendEvent(
  deps: SendDeps,
  correlation: SendableEvent,
  { patience, signal }: { readonly patience: AbortSignal; readonly signal: AbortSignal },
): Promise<boolean> {
  const { clock, random, log } = deps
  const pauses = (deps.apiReturn ?? new ApiReturn()).pauses()
  for (let tries = 1; ; tries += 1) {
    const failure = await trySending(deps, correlation, signal)
    if (failure === undefined) return true
    const fields = { ...describe(correlation.event), tries, error: failure.error }
    if (tries === MOST_TRIES || patience.aborted) {
      log.error('cannot write an event, giving up', fields)
      return false
    }
    log.debug('cannot write an event, will try again', fields)
    // Not all nodes at once after the server was away.
    const delay = tries === 1 ? RETRY_MS * random() : RETRY_MS
    await pauses.wait({ clock, ms: delay }, patience).catch(() => {})
  }
}

/** Undefined when there is nothing left to do; otherwise why it has to be tried again. */
async function trySending(
  { client, log }: SendDeps,
  correlation: SendableEvent,
  signal: AbortSignal,
): Promise<{ readonly error: unknown } | undefined> {
  const { event } = correlation
  try {
    if (correlation.kind === 'create' || !(await update(client, event, signal))) await create(client, event, signal)
    return undefined
  } catch (error) {
    if (!(error instanceof KubeApiError)) return { error }
    const fields = { ...describe(event), error }
    // Retrying cannot help with these.
    if (error.reason === 'AlreadyExists' || isAboutEndingNamespace(error)) log.debug('an event was refused', fields)
    else log.error('an event was refused', fields)
    return undefined
  }
}

/** False when the event is gone: the server keeps events for a while only. */
async function update(client: KubeClient, event: NamedEvent, signal: AbortSignal): Promise<boolean> {
  const { count, lastTimestamp, message } = event
  const { namespace, name } = event.metadata
  try {
    await client.send(
      {
        method: 'PATCH',
        path: `/api/v1/namespaces/${encodeURIComponent(namespace)}/events/${encodeURIComponent(name)}`,
        body: { count, lastTimestamp, message },
        contentType: 'application/strategic-merge-patch+json',
      },
      signal,
    )
    return true
  } catch (error) {
    if (isNotFound(error)) return false
    throw error
  }
}

async function create(client: KubeClient, event: NamedEvent, signal: AbortSignal): Promise<void> {
  const path = `/api/v1/namespaces/${encodeURIComponent(event.metadata.namespace)}/events`
  await client.send({ method: 'POST', path, body: event }, signal)
}

/** The server has no reason of its own for it; only the level of the log line depends on this. */
function isAboutEndingNamespace({ code, message }: KubeApiError): boolean {
  return code === 403 && message.includes('being terminated')
}

function describe({ metadata, reason, message }: NamedEvent) {
  return { event: `${metadata.namespace}/${metadata.name}`, reason, message }
}
