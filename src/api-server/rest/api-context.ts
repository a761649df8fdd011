import type { Clock } from '../../base/async/clock.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { unsupportedOption } from '../api-error.ts'
import type { AuthorizationDecision } from '../auth/authorization-decision.ts'
import type { RequestAttributes } from '../auth/request-attributes.ts'
import type { Backends } from '../backends/create-backends.ts'
import type { ResourceTable } from '../custom-resources/resource-table.ts'
import { ChangeSet } from '../lifecycle/change-set.ts'
import type { Change, ChangeInfo } from '../lifecycle/change-set.ts'
import { settleChanges } from '../lifecycle/settle-changes.ts'
import type { ResourceMetrics } from '../resource-metrics/resource-metrics.ts'
import type { RequestUser, Resource } from '../kinds/resource.ts'
import type { ServiceRange } from '../kinds/rules/services/service-range.ts'
import type { ApiObject, StoreKey } from '../store/api-object.ts'
import type { ApiStore } from '../store/api-store.ts'
import type { StoreView } from '../store/transaction.ts'
import type { Reviewers } from './verbs/reviews.ts'

/** What the API needs from outside. */
export interface ApiDeps {
  readonly store: ApiStore
  readonly clock: Clock
  readonly log: Logger
  /** All resources that there are. */
  readonly resources: ResourceTable
  /** The node that pods without one are bound to at once; undefined where a scheduler does that. */
  readonly nodeName: string | undefined
  /** Where services get their addresses from. */
  readonly serviceRanges: readonly ServiceRange[]
  /** As in "v1.36.4". */
  readonly version: string
  readonly newUid: () => string
  /** From 0 up to, but not including, 1. */
  readonly random: () => number
  readonly reviewers: Reviewers
  /** Whether a user may do something; not for use inside a transaction. */
  readonly authorize: (attributes: RequestAttributes) => AuthorizationDecision
  /** Kubelets and pods, for requests that only they can answer. */
  readonly backends: Backends
  readonly metrics: ResourceMetrics
  /** Resources that nothing acts on, so that none are taken, each with the reason. */
  readonly switchedOff?: ReadonlyMap<string, string>
  /** Throws an ApiError for a change that the user may not make although the request is allowed. */
  readonly admit: (user: RequestUser, change: Change, view: StoreView) => void
  /** The same for a new object by what others have to be asked about, before it is stored. */
  readonly admitNew: (user: RequestUser, resource: Resource, object: ApiObject, signal: AbortSignal) => Promise<void>
}

// Letters and digits that make no words and are not taken for one another.
const SUFFIX_CHARACTERS = 'bcdfghjklmnpqrstvwxz2456789'
const SUFFIX_LENGTH = 5

/** What came of a change. */
export interface ChangeResult {
  /** As it is then, or its last state. */
  readonly object: ApiObject
  readonly isGone: boolean
  /** Advice for the sender. */
  readonly warnings: readonly string[]
}

/** Rolls back the transaction of a dry run, and carries its result. */
class DryRun extends Error {
  readonly result: ChangeResult

  constructor(result: ChangeResult) {
    super('Dry run')
    this.result = result
  }
}

export function changeInfo(
  deps: Pick<ApiDeps, 'clock' | 'nodeName' | 'resources' | 'serviceRanges' | 'newUid' | 'random'>,
  user: RequestUser,
  fieldManager?: string,
): ChangeInfo {
  const nameSuffix = () =>
    Array.from(
      { length: SUFFIX_LENGTH },
      () => SUFFIX_CHARACTERS[Math.floor(deps.random() * SUFFIX_CHARACTERS.length)],
    ).join('')
  const { clock, nodeName, serviceRanges, resources, newUid } = deps
  return { now: clock.now(), nodeName, serviceRanges, resources, user, fieldManager, newUid, nameSuffix }
}

/**
 * Runs a change with all that follows from it in one transaction. A dry run does the same and undoes it.
 */
export async function changeObjects(
  deps: ApiDeps,
  request: { readonly user: RequestUser; readonly isDryRun: boolean; readonly fieldManager?: string },
  change: (changes: ChangeSet) => { readonly key: StoreKey; readonly object: ApiObject },
): Promise<ChangeResult> {
  try {
    return await deps.store.write((transaction) => {
      const changes = new ChangeSet(transaction, changeInfo(deps, request.user, request.fieldManager))
      const { key, object } = change(changes)
      for (const each of changes.pending) deps.admit(request.user, each, changes.view)
      const warnings = [...changes.warnings]
      const made = changes.pending.find((each) => each.key.name === key.name && each.key.resource === key.resource)
      settleChanges(changes)
      const stored = changes.get(key)?.object
      // What followed may have made another one of the same name, which is not what the request was about.
      const present = stored?.metadata.uid === object.metadata.uid ? stored : undefined
      const result = { object: present ?? object, isGone: present === undefined, warnings }
      if (!request.isDryRun) return result
      // What would not change at all is as it is.
      throw new DryRun(made === undefined ? result : { ...result, object: asBefore(result.object, made.before) })
    })
  } catch (error) {
    if (error instanceof DryRun) return error.result
    throw error
  }
}

/** A dry run makes no version: what it would have changed keeps its old one, and what it would have made has none. */
function asBefore(object: ApiObject, before: ApiObject | undefined): ApiObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: before?.metadata.resourceVersion } }
}

/** Whether the request only wants to know what would come of it. */
export function readDryRun(values: readonly string[]): boolean {
  for (const value of values) {
    if (value !== 'All') throw unsupportedOption('dryRun', value, ['All'])
  }
  return values.length > 0
}
