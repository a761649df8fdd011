import { readTextIfPresent, realFolder } from '../system/files/files-and-folders.ts'
import { addExplanations, explainPods, isHealthy, listPods } from './node/agent/agent-client.ts'
import type { PodSummary } from './node/agent/agent-client.ts'
import { knownAgent } from './node/agent/agent-process.ts'
import { isShuttingDown } from './node/agent/shutdown-client.ts'
import { findRuntime } from './node/runtime/find-runtime.ts'
import { findNoted, findProcess } from './node/known-process.ts'
import type { ClientDeps, StatusDeps } from './node/node-deps.ts'
import { formatFileProblem, parseFileProblems } from './node/file-problems.ts'
import type { FileProblem } from './node/file-problems.ts'
import { formatTable } from './format-table.ts'
import { exitCodes } from './node/node-error.ts'
import type { ExitCode } from './node/node-error.ts'
import { listWaitingPods } from './node/waiting-pods.ts'
import { computeNodeLayout } from './node/node-layout.ts'
import { apiUrls, readNodeRecord } from './node/node-record.ts'
import { hasServiceNetwork } from './node/network/service-network.ts'
import { readPortProblems } from './node/network/ingress-problems.ts'
import { describeNetwork, NETWORK_PARTS } from './describe-network.ts'
import { findPolicyRefusal } from './node/network/policy-refusal.ts'
import { findNftProblem, findRulesProgram } from './node/network/find-rules-program.ts'
import type { NodeRecord } from './node/node-record.ts'
import { toHost } from './node/network/parse-addresses.ts'

/** Says what runs and what is refused: done when all is well, failed when a file of the user is not used, another code when not all runs. */
export async function runStatus(deps: StatusDeps, state: string, signal: AbortSignal): Promise<ExitCode> {
  const layout = computeNodeLayout(await realFolder(state))
  const record = await readNodeRecord(layout.record)
  if (record === undefined) {
    deps.say(`There is no node in ${state}.`)
    return exitCodes.otherState
  }
  const agent = await findProcess(knownAgent({ layout, nodeName: record.nodeName }))
  const healthy = agent !== undefined && (await isHealthy(record.ports, signal))
  const runtime = await findRuntime(deps, layout.containerd, record.runtime, signal)
  const agentState = agent === undefined ? 'stopped' : `${healthy ? 'healthy' : 'not healthy'} (pid ${agent.pid})`
  deps.say(`agent      ${agentState}`)
  deps.say(`runtime    ${runtime.text}`)
  deps.say(`manifests  ${record.manifests}`)
  if (record.apply !== undefined) deps.say(`applied    ${record.apply}`)
  const nftProblem = await findNftProblem(deps, signal)
  const isByIptables = (await findRulesProgram(nftProblem, deps.programPath)) === 'iptables'
  const isUp = (await findNoted(layout.upIdentity)) !== undefined
  const portProblems = await readPortProblems(layout)
  const network = {
    record,
    services: layout.services,
    iptablesReason: isByIptables ? nftProblem : undefined,
    policyRefusal: findPolicyRefusal({ without: record.without ?? [], runtime: record.runtime, nftProblem }),
    isUp,
    hasRules: hasServiceNetwork(layout),
    portProblems,
  }
  for (const line of describeNetwork(network)) deps.say(line)
  const others = (record.without ?? []).filter((part) => !NETWORK_PARTS.includes(part))
  if (others.length > 0) deps.say(`left out   ${others.join(', ')} (--without)`)
  deps.say(
    isUp
      ? `kubectl    kubectl --kubeconfig ${layout.adminKubeconfig} get pods -A`
      : 'kubectl    the Kubernetes API is not served: "deckhand up" does not run',
  )
  if (isUp) deps.say(`served at  ${[...apiUrls(record), ...agentUrls(record)].join(', ')}`)
  const applied = isUp ? parseFileProblems(await readTextIfPresent(layout.appliedProblems)) : []
  if (!healthy) {
    sayProblems(deps, applied)
    return exitCodes.otherState
  }
  if (await isShuttingDown(layout.agentRoot, signal))
    deps.say('shutdown   begun: pods end and no new ones start; "deckhand shutdown --cancel" takes it back')
  deps.say('')
  // In this order: a pod that came in between must not appear as one that is being ended.
  const { pods, manifests, unused } = await explainPods(layout, signal)
  const waiting = isUp ? await listWaitingPods(deps, layout, signal) : []
  deps.say(formatPods([...addExplanations(await listPods(layout, signal), pods), ...waiting]))
  const problems = [...manifests, ...applied]
  sayProblems(deps, problems)
  sayProblems(deps, unused, 'Fields that are not used:')
  if (!isUp || !runtime.answers || (portProblems ?? []).length > 0) return exitCodes.otherState
  return problems.length === 0 ? exitCodes.done : exitCodes.failed
}

/** Where the agent is served. */
function agentUrls({ addresses: [address = '127.0.0.1'] = [], ports }: NodeRecord): readonly string[] {
  return [`https://${toHost(address)}:${ports.agent} (agent)`]
}

function sayProblems(
  deps: Pick<ClientDeps, 'say'>,
  problems: readonly FileProblem[],
  heading = 'Refused files:',
): void {
  if (problems.length === 0) return
  deps.say('')
  deps.say(heading)
  for (const problem of problems) deps.say(`  ${formatFileProblem(problem)}`)
}

// A name may have 253 characters, and a table has to stay readable.
const LONGEST_NAME = 60

/** Pods as a table. */
export function formatPods(pods: readonly PodSummary[]): string {
  if (pods.length === 0) return 'No pods.'
  const lines = [
    ['POD', 'READY', 'PHASE', 'RESTARTS', 'IP', 'WHY'],
    ...pods.map((pod) => [
      cut(`${pod.namespace}/${pod.name}`),
      pod.ready ? 'yes' : 'no',
      pod.phase,
      String(pod.restarts ?? ''),
      pod.address,
      pod.waiting.replaceAll(/\s+/gv, ' '),
    ]),
  ]
  return formatTable(lines)
}

function cut(name: string): string {
  return name.length <= LONGEST_NAME ? name : `${name.slice(0, LONGEST_NAME - 1)}…`
}
