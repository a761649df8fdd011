import { realFolder } from '../system/files/state/state-folder.ts'
import { explainPods, selectPods } from './node/agent/agent-client.ts'
import type { ExplainedPod } from './node/agent/agent-client.ts'
import type { StandaloneDeps } from './node/node-deps.ts'
import { exitCodes, NodeError } from './node/node-error.ts'
import { computeNodeLayout } from './node/node-layout.ts'
import { readNodeRecord } from './node/node-record.ts'

/** Says of one pod why it is as it is, and what was done for it. */
export async function runWhy(
  deps: StandaloneDeps,
  options: { readonly state: string; readonly pod: string },
  signal: AbortSignal,
): Promise<void> {
  const layout = computeNodeLayout(await realFolder(options.state))
  const record = await readNodeRecord(layout.record)
  if (record === undefined) throw new NodeError(`There is no node in ${options.state}.`, exitCodes.otherState)
  const explained = await explainPods(layout, signal).catch((error: unknown) => {
    if (signal.aborted || error instanceof NodeError) throw error
    throw new NodeError(
      `Cannot ask the agent about "${options.pod}": it does not answer, is "deckhand up" running?`,
      exitCodes.otherState,
    )
  })
  const pods = selectPods(explained, options.pod)
  if (pods.length === 0)
    throw new NodeError(`There is no pod "${options.pod}" here; "deckhand status" lists them.`, exitCodes.failed)
  for (const pod of pods) deps.say(formatExplanation(pod))
}

/** The sentence, then the steps with the time of day, how long they took and what went wrong. */
export function formatExplanation({ namespace, name, why, from, steps }: Omit<ExplainedPod, 'uid'>): string {
  const lines = steps.map(({ name: step, startedAt, ms, error }) => {
    const time = new Date(startedAt).toISOString().slice(11, 23)
    const took = ms === undefined || ms === null ? 'goes on' : `${(ms / 1000).toFixed(3)} s`
    return `  ${time}  ${took.padStart(9)}  ${step}${error === undefined || error === null ? '' : `: ${error}`}`
  })
  const origin = from === undefined ? [] : [`  from ${from}`]
  return [`${namespace}/${name}: ${why}`, ...origin, ...lines].join('\n')
}
