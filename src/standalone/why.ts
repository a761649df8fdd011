import { errorMessage } from '../base/telemetry/error-text.ts'
import { readTextIfPresent, realFolder } from '../system/files/files-and-folders.ts'
import { explainPods, KUBELET_ROOT, listAgentPods, selectNamedPods } from './node/agent/agent-client.ts'
import type { ExplainedPod, Explanations } from './node/agent/agent-client.ts'
import { knownAgent } from './node/agent/agent-process.ts'
import { concernsName, formatFileProblem, parseFileProblems } from './node/file-problems.ts'
import type { FileProblem } from './node/file-problems.ts'
import { findProcess } from './node/known-process.ts'
import { readLastLogLines } from './node/last-log-lines.ts'
import type { StatusDeps } from './node/node-deps.ts'
import { listWaitingPods } from './node/waiting-pods.ts'
import type { WaitingPod } from './node/waiting-pods.ts'
import { exitCodes, NodeError } from './node/node-error.ts'
import { computeNodeLayout } from './node/node-layout.ts'
import type { NodeLayout } from './node/node-layout.ts'
import { readNodeRecord } from './node/node-record.ts'
import { findRuntime } from './node/runtime/find-runtime.ts'
import type { FoundRuntime } from './node/runtime/find-runtime.ts'
import { describeUnreadyWorkloads } from './unready-workloads.ts'

export interface WhyOptions {
  readonly state: string
  /** Of an agent that runs on its own, as "kubelet". */
  readonly rootDirectory: string | undefined
  readonly pod: string
}

// Where a kubelet has the logs of pods, unless it is set otherwise.
const KUBELET_LOGS = '/var/log/pods'
const KIND = /^(?:pod|deployment|replicaset|statefulset|daemonset|job)s?(?:\.[a-z]+)?\//v

/** The agent that is asked. */
type AskedAgent = Pick<NodeLayout, 'agentSocket' | 'podLogs'>

/** What there is to say about a name. */
interface Findings {
  readonly explained: Explanations
  readonly applied: readonly FileProblem[]
  readonly waiting: readonly WaitingPod[]
  readonly workloads: readonly string[]
}

/** Says of one pod why it is as it is, and what was done for it; of a workload what it lacks, of a file why there is no pod of it. */
export async function runWhy(deps: StatusDeps, options: WhyOptions, signal: AbortSignal): Promise<void> {
  const layout = computeNodeLayout(await realFolder(options.state))
  const isStandalone = options.rootDirectory === undefined && (await readNodeRecord(layout.record)) !== undefined
  const agent = isStandalone ? layout : kubeletAgent(options.rootDirectory ?? KUBELET_ROOT)
  const find = async (name: string) =>
    isStandalone ? await findOnNode(deps, layout, name, signal) : await findOnKubelet(agent, options, signal)
  // As kubectl writes it, "deployment/web", unless that is a namespace.
  for (const name of new Set([options.pod, options.pod.replace(KIND, '')]))
    if (await sayFindings(deps, { agent, name, ...(await find(name)) }, signal)) return
  const others = isStandalone ? '"deckhand status" lists them' : `its agent is asked at ${agent.agentSocket}`
  throw new NodeError(`There is no pod "${options.pod}" here; ${others}.`, exitCodes.failed)
}

/** Of a kubelet that runs by itself. */
function kubeletAgent(rootDirectory: string): AskedAgent {
  return { agentSocket: `${rootDirectory}/deckhand/agent.sock`, podLogs: KUBELET_LOGS }
}

async function findOnKubelet(
  agent: AskedAgent,
  { state, rootDirectory }: WhyOptions,
  signal: AbortSignal,
): Promise<Findings> {
  const explained = await explainPods(agent, signal).catch((cause: unknown) => {
    if (signal.aborted || cause instanceof NodeError) throw cause
    const why = `no agent answers at "${agent.agentSocket}": ${errorMessage(cause)}`
    const message = rootDirectory === undefined ? `There is no node in ${state}, and ${why}` : `Cannot ask: ${why}`
    throw new NodeError(message, exitCodes.otherState, { cause })
  })
  return { explained, applied: [], waiting: [], workloads: [] }
}

async function findOnNode(deps: StatusDeps, layout: NodeLayout, name: string, signal: AbortSignal): Promise<Findings> {
  const explained = await explainPods(layout, signal).catch(async (error: unknown) => {
    if (signal.aborted || error instanceof NodeError) throw error
    const record = await readNodeRecord(layout.record)
    const agent = await findProcess(knownAgent({ layout, nodeName: record?.nodeName ?? '' }))
    const runtime = await findRuntime(deps, layout.containerd, record?.runtime, signal)
    throw new NodeError(describeSilence(name, { agentRuns: agent !== undefined, runtime }), exitCodes.otherState)
  })
  return {
    explained,
    applied: parseFileProblems(await readTextIfPresent(layout.appliedProblems)),
    waiting: await listWaitingPods(deps, layout, signal),
    workloads: await describeUnreadyWorkloads(deps, layout, name, signal),
  }
}

/** True if there was something to say. */
async function sayFindings(
  deps: Pick<StatusDeps, 'say'>,
  found: Findings & { readonly agent: AskedAgent; readonly name: string },
  signal: AbortSignal,
): Promise<boolean> {
  const { agent, name, explained, applied, workloads } = found
  const problems = [...explained.manifests, ...applied].filter((problem) => concernsName(problem, name))
  const pods = selectNamedPods(explained.pods, name)
  const waiting = selectNamedPods(found.waiting, name)
  for (const workload of workloads) deps.say(workload)
  const known = pods.length === 0 ? [] : await listAgentPods(agent, signal)
  for (const pod of pods) {
    deps.say(formatExplanation(pod))
    const whole = known.find(({ metadata }) => metadata?.uid === pod.uid)
    for (const line of whole === undefined ? [] : await readLastLogLines(agent, whole)) deps.say(line)
    for (const field of explained.unused.filter(({ names }) => names?.includes(`${pod.namespace}/${pod.name}`)))
      deps.say(`  not used: ${formatFileProblem(field)}`)
  }
  for (const { namespace, name: podName, waiting: why, claims } of waiting) {
    deps.say(`${namespace}/${podName}: ${why}`)
    for (const claim of claims) deps.say(`  ${claim}`)
  }
  for (const problem of problems) deps.say(`Refused: ${formatFileProblem(problem)}`)
  return pods.length + problems.length + waiting.length + workloads.length > 0
}

/** Why the agent does not answer: it serves nothing before its runtime has answered. */
export function describeSilence(
  pod: string,
  { agentRuns, runtime }: { readonly agentRuns: boolean; readonly runtime: FoundRuntime },
): string {
  const why =
    agentRuns && !runtime.answers
      ? `it waits for the container runtime: ${runtime.text}.`
      : 'it does not answer, is "deckhand up" running?'
  return `Cannot ask the agent about "${pod}": ${why}`
}

/** A step within another fails with it, and what is tried again fails often in the same way: once is enough to read. */
function shortenKnown(error: string, shown: ReadonlySet<string>): string {
  if (shown.has(error)) return 'failed as above'
  const known = [...shown].find((each) => error.includes(each))
  return known === undefined ? error : error.replace(known, () => 'as above')
}

/** The sentence, then the steps with the time of day, how long they took and what went wrong. */
export function formatExplanation({ namespace, name, why, from, steps }: Omit<ExplainedPod, 'uid'>): string {
  const errors = new Set<string>()
  const lines = steps.map(({ name: step, startedAt, ms, error }) => {
    const time = new Date(startedAt).toISOString().slice(11, 23)
    const took = ms === undefined || ms === null ? 'goes on' : `${(ms / 1000).toFixed(3)} s`
    const failure = error === undefined || error === null ? '' : `: ${shortenKnown(error, errors)}`
    if (error) errors.add(error)
    return `  ${time}  ${took.padStart(9)}  ${step}${failure}`
  })
  const origin = from === undefined ? [] : [`  from ${from}`]
  return [`${namespace}/${name}: ${why}`, ...origin, ...lines].join('\n')
}
