import { raceSubPaths } from '../e2e/support/sub-path-race.ts'
import { TestNode } from '../e2e/support/test-node.ts'
import type { Samples } from './rows.ts'
import { startBenchAgent } from './scenario.ts'
import type { Bench, Scenario } from './scenario.ts'

const STARTS = 500
const LONGEST_MS = 15 * 60_000

/** Containers that mount a path which another container exchanges with a link to the root of the node all the time. */
export const subPathRaceScenario: Scenario = {
  name: 'sub-path-race',
  rows: ['race-outside'],
  async measure(bench: Bench): Promise<Samples> {
    const node = new TestNode(bench.lab, await startBenchAgent(bench))
    try {
      const { starts, refused, swaps, outside } = await raceSubPaths(node, { starts: STARTS, ms: LONGEST_MS })
      console.error(`sub-path-race: ${starts} starts and ${refused} refusals during ${swaps} swaps`)
      for (const what of outside) console.error(`sub-path-race: OUTSIDE ${what}`)
      if (starts < STARTS) throw new Error(`Cannot race ${STARTS} starts: only ${starts} in ${LONGEST_MS} ms`)
      return { 'race-outside': [outside.length] }
    } finally {
      node.runtime.close()
    }
  },
}
