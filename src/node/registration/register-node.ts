import type { Clock } from '../../base/async/clock.ts'
import { BackOff } from '../../base/async/back-off.ts'
import type { NodeEvents } from '../../model/events/node-events.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { ApiReturn } from '../../protocols/kube-api/list-watch/api-return.ts'
import { computeInitialNode } from './compute-initial-node.ts'
import { computeNodePatch } from './status/compute-node-patch.ts'
import { computeNodeReconciliation } from './compute-node-reconciliation.ts'
import { computeNodeStatus } from './status/compute-node-status.ts'
import { FailureLog } from './failure-log.ts'
import { isRejection } from './node-api.ts'
import type { NodeApi } from './node-api.ts'
import type { NodeInfo } from './status/node-info.ts'
import type { NodeProfile } from './status/node-profile.ts'
import type { NodeStartup } from './node-startup.ts'
import type { OwnNodeObject } from './own-node-object.ts'
import { reportNode } from './status/report-node.ts'
import { toApiTime } from '../../model/text/api-time.ts'

export interface RegistrationDeps {
  readonly api: Pick<NodeApi, 'createNode' | 'getNode' | 'patchNodeStatus'>
  readonly ownNode: OwnNodeObject
  readonly profile: NodeProfile
  /** An agent that may not create nodes has none. Parity: the gate KubeletRegistrationGetOnExistsOnly. */
  readonly onlyIfExists: boolean
  readonly info: () => NodeInfo
  readonly events: NodeEvents
  readonly startup?: NodeStartup
  readonly apiReturn: ApiReturn
  readonly clock: Clock
  readonly log: Logger
}

const RETRIES = { firstMs: 100, longestMs: 7000 }

/** Makes the Node object, or puts right the one that is there. Tries until it is done. */
export async function registerNode(deps: RegistrationDeps, signal: AbortSignal): Promise<void> {
  const { clock, log, profile } = deps
  const failures = new FailureLog(log, 'register the node')
  const backOff = new BackOff(RETRIES)
  const pauses = deps.apiReturn.pauses()
  for (;;) {
    try {
      deps.startup?.tries()
      const how = await tryToRegister(deps, signal)
      if (how === 'made') deps.startup?.made()
      log.info('node registered', { node: profile.nodeName, how })
      return
    } catch (error) {
      signal.throwIfAborted()
      failures.failed(error)
    }
    await pauses.wait({ clock, ms: backOff.next() }, signal)
  }
}

async function tryToRegister(deps: RegistrationDeps, signal: AbortSignal): Promise<'made' | 'found'> {
  const { api, ownNode, profile, events } = deps
  const info = deps.info()
  const time = toApiTime(deps.clock.now())
  const initial = computeNodeStatus(computeInitialNode(profile), { profile, info, time })
  try {
    ownNode.note(await api.createNode(initial.node, signal))
    reportNode(events, profile.nodeName, initial.events)
    return 'made'
  } catch (error) {
    // An agent that may not create nodes may still have one that was created for it.
    const mayExist = isRejection(error, 'AlreadyExists') || (isRejection(error, 'Forbidden') && !deps.onlyIfExists)
    if (!mayExist) throw error
  }
  const existing = await api.getNode(signal)
  const keepsDevices = info.size.devices?.areRecorded === true
  const patch = computeNodePatch(existing, computeNodeReconciliation(initial.node, existing, { keepsDevices }))
  ownNode.note(patch === undefined ? existing : await api.patchNodeStatus(patch, signal))
  return 'found'
}
