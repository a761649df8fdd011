import { cycleVolumePods } from '../e2e/support/cycle-volume-pods.ts'
import { VolumePods } from '../e2e/support/volume-pods.ts'
import type { Samples } from './rows.ts'
import type { Bench, Scenario } from './scenario.ts'
import { now } from './wait.ts'

const PODS_AT_ONCE = 25
const ROUNDS = 20

/** Five hundred pods with volumes of every kind come and go. It fails when the agent leaves anything of them behind. */
export const volumeCyclesScenario: Scenario = {
  name: 'volume-cycles',
  rows: ['volume-cycles'],
  isOwn: true,
  async measure({ lab }: Bench): Promise<Samples> {
    await using pods = await VolumePods.create()
    const agent = await lab.startAgent(pods.objects.agent)
    await agent.healthy()
    const begin = now()
    await cycleVolumePods({ agent, manifests: lab.manifests, pods, podsAtOnce: PODS_AT_ONCE, rounds: ROUNDS })
    return { 'volume-cycles': [(now() - begin) / 1000] }
  },
}
