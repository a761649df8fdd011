import type { CriClient } from './cri-client.ts'
import type { RuntimeCondition, RuntimeFeatures, RuntimeHandler, StatusResponse } from './generated/runtime-v1.ts'

/** How the runtime says it is. */
export interface RuntimeStatusReport {
  /** Undefined when the runtime does not report the condition, which counts as not ready. */
  readonly runtimeReady: RuntimeCondition | undefined
  readonly networkReady: RuntimeCondition | undefined
  /** What the runtime reports besides these two. */
  readonly otherConditions: readonly RuntimeCondition[]
  readonly handlers: readonly RuntimeHandler[]
  /** Undefined for runtimes too old to report them. */
  readonly features: RuntimeFeatures | undefined
}

/** Sorts the conditions of a status reply. */
export function parseRuntimeStatus(reply: StatusResponse): RuntimeStatusReport {
  const conditions = reply.status?.conditions ?? []
  return {
    runtimeReady: conditions.find(({ type }) => type === 'RuntimeReady'),
    networkReady: conditions.find(({ type }) => type === 'NetworkReady'),
    otherConditions: conditions.filter(({ type }) => type !== 'RuntimeReady' && type !== 'NetworkReady'),
    handlers: reply.runtimeHandlers,
    features: reply.features,
  }
}

/** Asks the runtime how it is. */
export async function fetchRuntimeStatus(
  client: Pick<CriClient, 'status'>,
  signal: AbortSignal,
): Promise<RuntimeStatusReport> {
  return parseRuntimeStatus(await client.status({}, signal))
}
