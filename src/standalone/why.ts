import { readTextIfPresent, realFolder } from '../system/files/state/state-folder.ts'
import { explainPods, listAgentPods, selectPods } from './node/agent/agent-client.ts'
import type { ExplainedPod } from './node/agent/agent-client.ts'
import { knownAgent } from './node/agent/agent-process.ts'
import { concernsName, formatFileProblem, parseFileProblems } from './node/file-problems.ts'
import { findProcess } from './node/known-process.ts'
import { readLastLogLines } from './node/last-log-lines.ts'
import type { StatusDeps } from './node/node-deps.ts'
import { listWaitingPods } from './node/waiting-pods.ts'
import { exitCodes, NodeError } from './node/node-error.ts'
import { computeNodeLayout } from './node/node-layout.ts'
import { readNodeRecord } from './node/node-record.ts'
import { findRuntime } from './node/runtime/find-runtime.ts'
import type { FoundRuntime } from './node/runtime/find-runtime.ts'
import { describeUnreadyWorkloads } from './unready-workloads.ts'

// As kubectl writes it, "deployment/web".
const KIND = /^(?:pod|deployment|replicaset|statefulset|daemonset|job)s?(?:\.[a-z]+)?\//v

/** Says of one pod why it is as it is, and what was done for it; of a workload what it lacks, of a file why there is no pod of it. */
export async function runWhy(
  deps: StatusDeps,
  options: { readonly state: string; readonly pod: string },
  signal: AbortSignal,
): Promise<void> {
  const layout = computeNodeLayout(await realFolder(options.state))
  const record = await readNodeRecord(layout.record)
  if (record === undefined) throw new NodeError(`There is no node in ${options.state}.`, exitCodes.otherState)
  const explained = await explainPods(layout, signal).catch(async (error: unknown) => {
    if (signal.aborted || error instanceof NodeError) throw error
    const agent = await findProcess(knownAgent({ layout, nodeName: record.nodeName }))
    const runtime = await findRuntime(deps, layout.containerd, record.runtime, signal)
    throw new NodeError(describeSilence(options.pod, { agentRuns: agent !== undefined, runtime }), exitCodes.otherState)
  })
  const applied = parseFileProblems(await readTextIfPresent(layout.appliedProblems))
  const problems = [...explained.manifests, ...applied].filter((problem) => concernsName(problem, options.pod))
  const pods = selectPods(explained.pods, options.pod)
  const waiting = selectPods(await listWaitingPods(deps, layout, signal), options.pod)
  const workloads = await describeUnreadyWorkloads(deps, layout, options.pod, signal)
  if (pods.length + problems.length + waiting.length + workloads.length === 0) {
    const name = options.pod.replace(KIND, '')
    if (name !== options.pod) return await runWhy(deps, { ...options, pod: name }, signal)
    throw new NodeError(`There is no pod "${options.pod}" here; "deckhand status" lists them.`, exitCodes.failed)
  }
  for (const workload of workloads) deps.say(workload)
  const known = pods.length === 0 ? [] : await listAgentPods(layout, signal)
  for (const pod of pods) {
    deps.say(formatExplanation(pod))
    const whole = known.find(({ metadata }) => metadata?.uid === pod.uid)
    for (const line of whole === undefined ? [] : await readLastLogLines(layout, whole)) deps.say(line)
    for (const field of explained.unused.filter(({ names }) => names?.includes(`${pod.namespace}/${pod.name}`)))
      deps.say(`  not used: ${formatFileProblem(field)}`)
  }
  for (const { namespace, name, waiting: why, claims } of waiting) {
    deps.say(`${namespace}/${name}: ${why}`)
    for (const claim of claims) deps.say(`  ${claim}`)
  }
  for (const problem of problems) deps.say(`Refused: ${formatFileProblem(problem)}`)
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
