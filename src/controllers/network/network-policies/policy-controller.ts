import { BackOff } from '../../../base/async/back-off.ts'
import { TaskGroup } from '../../../base/async/task-group.ts'
import { sameValue } from '../../../base/document/same-value.ts'
import type { NetworkPolicy } from '../../../model/generated/api-groups.ts'
import type { Namespace, Pod } from '../../../model/generated/core-v1.ts'
import type { ApiObjects } from '../../engine/api-objects.ts'
import type { Controller } from '../../engine/controller.ts'
import type { ControllerDeps } from '../../engine/controller-deps.ts'
import type { Live } from '../../engine/live-object.ts'
import { createObjectEvents } from '../../engine/object-events.ts'
import { RULES_RETRY } from '../nft/run-rules.ts'
import { NftTable } from '../nft/nft-table.ts'
import type { NftRules } from '../nft/nft-table.ts'
import { computePolicyState } from './compute-policy-state.ts'
import type { PolicyNetwork } from './compute-policy-state.ts'
import { computePolicyPods } from './policy-pod.ts'
import type { AttachedAddresses } from './policy-pod.ts'

export interface PolicyOptions {
  readonly table: string
  readonly network: PolicyNetwork
  readonly rules: NftRules
  /** Has packets between two pods of the bridge pass through the rules; returns whether that had to be set again. */
  readonly ensureBridgeIsSeen: () => boolean
  /** Addresses of pods before the API knows them: so the first packet of a pod is judged like all others. */
  readonly attached?: {
    readonly addresses: AttachedAddresses
    follow(onChange: () => void, signal: AbortSignal): Promise<void>
  }
}

interface PolicyDeps extends Pick<ControllerDeps, 'clock' | 'log'> {
  readonly policies: Pick<ApiObjects<NetworkPolicy>, 'known' | 'untilSynced'>
  readonly pods: Pick<ApiObjects<Pod>, 'known' | 'untilSynced'>
  readonly namespaces: Pick<ApiObjects<Namespace>, 'known' | 'untilSynced'>
}

// A pod has no network until its address is written, so it is short.
const GATHER_MS = 5
// No event says that a setting of the kernel has changed.
const CHECK_MS = 5000

/** Keeps the rules that enforce policies; there are none while there is no policy. They stay when the process ends. */
export function createPolicyController(deps: PolicyDeps, options: PolicyOptions): Controller {
  const { policies, pods, namespaces, clock, log } = deps
  const table = new NftTable({
    table: options.table,
    subject: 'network policies',
    rules: options.rules,
    clock,
    log,
    gatherMs: GATHER_MS,
    watchedChain: 'forward',
    sign: { chain: 'forward', text: 'goto egress' },
  })
  let startFollowing = () => {}
  const isUsed = () => policies.known.all().length > 0
  policies.known.onChange(() => table.wake())
  pods.known.onChange((after, before) => {
    if (isUsed() && !sameValue(relevantOf(after), relevantOf(before))) table.wake()
  })
  namespaces.known.onChange((after, before) => {
    if (isUsed() && !sameValue(after?.metadata.labels, before?.metadata.labels)) table.wake()
  })
  const sync = async (signal: AbortSignal) => {
    if (!isUsed()) return await table.clear(signal)
    if (options.ensureBridgeIsSeen()) log.warn('packets between pods were not seen by the rules, they are again')
    startFollowing()
    const all = computePolicyPods(pods.known.all(), namespaces.known.all(), options.attached?.addresses)
    await table.write(computePolicyState(policies.known.all(), all, options.network), signal)
  }
  const follow = async (signal: AbortSignal) => {
    const backOff = new BackOff(RULES_RETRY)
    for (;;) {
      try {
        await options.attached?.follow(() => isUsed() && table.wake(), signal)
      } catch (error) {
        signal.throwIfAborted()
        const pauseMs = backOff.next()
        log.warn('cannot follow the addresses of new pods, will try again', { error, pauseMs })
        await clock.sleep(pauseMs, signal)
      }
    }
  }
  return {
    name: 'network-policies',
    async run(signal) {
      // Half of what there is would let through what is forbidden.
      for (const objects of [policies, pods, namespaces]) await objects.untilSynced(signal)
      await using group = new TaskGroup(signal)
      // Without a policy nothing needs to know them.
      startFollowing = () => {
        startFollowing = () => {}
        if (options.attached !== undefined) group.run('addresses', (s) => follow(s))
      }
      await table.run(sync, signal, () => (isUsed() ? CHECK_MS : undefined))
    },
  }
}

/** Says on each policy that it is not enforced: one of an earlier run, since new ones are not taken then. */
export function createUnenforcedPolicies(
  deps: Pick<ControllerDeps, 'record' | 'log'> & { readonly policies: ApiObjects<NetworkPolicy> },
  why: string,
): Controller {
  const record = createObjectEvents(deps.record, 'network-policies', deps.policies.kind)
  return {
    name: 'unenforced-policies',
    async run(signal) {
      await deps.policies.untilSynced(signal)
      for (const policy of deps.policies.known.all()) {
        const { namespace, name } = policy.metadata
        deps.log.warn('a network policy is not enforced', { policy: `${namespace}/${name}`, why })
        record(policy, 'Warning', 'NotEnforced', `The policy is not enforced: ${why}`)
      }
    },
  }
}

/** The parts of a pod that the rules depend on. */
function relevantOf(pod: Live<Pod> | undefined) {
  if (pod === undefined) return undefined
  const { podIP, podIPs, phase } = pod.status ?? {}
  return { labels: pod.metadata.labels, podIP, podIPs, phase }
}
