import { resolve } from 'node:path'
import { computeNodeLayout } from '../../src/standalone/node/node-layout.ts'
import type { Lab } from '../e2e/lab/start-lab.ts'
import { computeMedian } from './compute-statistics.ts'
import { runPod } from './measure-node-start.ts'
import type { Samples } from './rows.ts'
import type { Bench, Scenario } from './scenario.ts'
import { deckhand, startNode } from './standalone-node.ts'

const TURNS = 5

/** One pod after another on a standalone node, and on the one of an earlier version, in turns of some pods each. */
export const earlierNodeScenario: Scenario = {
  name: 'earlier-node',
  rows: ['now-start', 'earlier-start', 'now-start-share'],
  isOwn: true,
  refusal: ({ earlier }) =>
    earlier === undefined
      ? 'it needs --earlier, a checkout of the version to compare with, made with "npm ci"'
      : undefined,
  async measure({ lab, runs, earlier = '', signal }: Bench): Promise<Samples> {
    const each = Math.ceil(runs / TURNS)
    const turns = []
    for (let turn = 0; turn < TURNS; turn += 1) {
      const now = await runTurn(lab, { program: deckhand, state: 'now' }, each, signal)
      const program = `${resolve(earlier)}/bin/deckhand`
      turns.push({ now, before: await runTurn(lab, { program, state: 'earlier' }, each, signal) })
    }
    return {
      'now-start': turns.flatMap(({ now }) => now),
      'earlier-start': turns.flatMap(({ before }) => before),
      'now-start-share': turns.map(({ now, before }) => medianOf(now) / medianOf(before)),
    }
  },
}

function medianOf(times: readonly number[]): number {
  return computeMedian(times) ?? Number.NaN
}

interface Node {
  readonly program: string
  readonly state: string
}

/** How long pods took to their first instruction, in seconds. The node is up for them alone: two would share the CPUs. */
async function runTurn(lab: Lab, node: Node, runs: number, signal: AbortSignal): Promise<readonly number[]> {
  await using _node = await startNode(lab, signal, node)
  const layout = computeNodeLayout(`${lab.folder}/${node.state}`)
  const times: number[] = []
  // The first pod pays for what the runtime loads only once.
  for (let run = 0; run <= runs; run += 1) {
    const { time } = await runPod(lab, layout, `start-${run}`, signal)
    if (run > 0) times.push(time)
  }
  return times
}
