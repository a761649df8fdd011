/** A program of its own, so that its options make it count the same each time; prints bytes for each operation, as JSON. */
import process from 'node:process'
import { getHeapStatistics } from 'node:v8'
import { computeMedian } from '../compute-statistics.ts'
import { computePodStatus } from '../../../src/pods/status/compute-pod-status.ts'
import { createStatusInput } from '../../builders/create-status-input.ts'
import { settle, startSmallAgent } from './small-agent.ts'

interface Operation {
  readonly name: string
  /** How often it is done between two readings: what is counted comes in steps of some hundred kilobytes. */
  readonly times: number
  readonly run: () => unknown
}

const PODS = 100
const BATCHES = 7
const WARM_UP = 2

const agent = await startSmallAgent(PODS)
const { registry, runtime } = agent.kubelet
const { observer } = runtime
const [uid] = agent.uids
if (uid === undefined) throw new Error('Cannot measure: the agent has no pod')
const input = createStatusInput()
await agent.metrics.render('text')

const operations: readonly Operation[] = [
  { name: 'computing the status of a pod', times: 1000, run: () => computePodStatus(input) },
  {
    name: 'a pass over a pod with nothing to do',
    times: 200,
    run: async () => {
      registry.wake(uid)
      await settle()
    },
  },
  { name: 'a relist of 100 pods', times: 10, run: () => observer.relist() },
  { name: 'a scrape of /metrics', times: 10, run: () => agent.metrics.render('text') },
]

const bytes: Record<string, number> = {}
for (const { name, times, run } of operations) {
  const counted: number[] = []
  for (let batch = -WARM_UP; batch < BATCHES; batch += 1) {
    const before = getHeapStatistics().total_allocated_bytes
    for (let time = 0; time < times; time += 1) await run()
    if (batch >= 0) counted.push((getHeapStatistics().total_allocated_bytes - before) / times)
  }
  bytes[name] = Math.round(computeMedian(counted) ?? 0)
}
process.stdout.write(`${JSON.stringify(bytes)}\n`)
process.exit(0)
