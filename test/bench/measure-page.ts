import { readFile } from 'node:fs/promises'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { childPid } from '../e2e/lab/lab-namespaces.ts'
import type { Samples } from './rows.ts'
import type { Bench, Scenario } from './scenario.ts'
import { DEADLINE_MS, deckhand, readNodeUse, startNode, startWeb } from './standalone-node.ts'
import type { StandaloneNode } from './standalone-node.ts'
import { waitFor } from './wait.ts'

const SETTLE_MS = 90_000
// Opening and closing a page cost something once, which is a row of its own.
const OPENING_MS = 20_000
const TURNS = 4
const EACH_MS = 1000
const pageReader = fileURLToPath(new URL('page-reader.ts', import.meta.url))

interface Phase {
  readonly cpuPercent: number
  readonly megabytes: number
}

interface OpenPhase extends Phase {
  /** CPU time from the request for a link until all is sent and its garbage is gone, beyond what an open page costs. */
  readonly openingSeconds: number
}

/** What a standalone node costs more while one page is open, which is opened and closed in turns. */
export const pageScenario: Scenario = {
  name: 'page',
  rows: ['page-memory', 'page-cpu', 'page-opening'],
  isOwn: true,
  async measure(bench: Bench): Promise<Samples> {
    const { lab, pods, signal } = bench
    await using node = await startNode(lab, signal)
    await startWeb(node.api, pods, signal)
    await sleep(SETTLE_MS, undefined, { signal })
    const closed = [await measurePhase(node.pids, bench)]
    const open: OpenPhase[] = []
    for (let turn = 0; turn < TURNS; turn += 1) {
      const { cpuSeconds } = await readNodeUse(node.pids)
      const began = performance.now()
      const close = await openPage(bench, turn)
      await sleep(OPENING_MS, undefined, { signal })
      const used = (await readNodeUse(node.pids)).cpuSeconds - cpuSeconds
      const seconds = (performance.now() - began) / 1000
      const phase = await measurePhase(node.pids, bench)
      open.push({ ...phase, openingSeconds: used - (phase.cpuPercent / 100) * seconds })
      await close()
      await sleep(OPENING_MS, undefined, { signal })
      closed.push(await measurePhase(node.pids, bench))
    }
    return computeCost(closed, open)
  },
}

/** Keeps the page open until the function that it gives is called. */
async function openPage({ lab, signal }: Bench, turn: number): Promise<() => Promise<void>> {
  const log = `${lab.folder}/page-${turn}.log`
  const argv = [deckhand, 'page', '--state', `${lab.folder}/state`]
  const { stdout } = await lab.runInside(argv, { deadlineMs: DEADLINE_MS })
  const reading = await lab.startInside([process.execPath, pageReader, stdout.trim()], log)
  const isOpen = async () => (await readFile(log, 'utf8')).includes('sample')
  await waitFor('the page', isOpen, { pollMs: 100, deadlineMs: DEADLINE_MS, signal })
  return async () => {
    process.kill((await childPid(reading.pid)) ?? reading.pid, 'SIGTERM')
    await reading.exited
  }
}

/** What the node uses over a while: its CPU, and the memory that it has when its garbage is gone. */
async function measurePhase(pids: StandaloneNode['pids'], { steadyMs, signal }: Bench): Promise<Phase> {
  const [before, began] = [await readNodeUse(pids), performance.now()]
  let least = Infinity
  let last = before
  while (performance.now() - began < steadyMs) {
    await sleep(EACH_MS, undefined, { signal })
    last = await readNodeUse(pids)
    least = Math.min(least, last.memory.anonymousMegabytes)
  }
  const seconds = (performance.now() - began) / 1000
  return { cpuPercent: ((last.cpuSeconds - before.cpuSeconds) / seconds) * 100, megabytes: least }
}

/**
 * Each time that the page was open is compared with what was before and after it. What the page has loaded once stays, so of the memory it is the time before
 * the first page that counts.
 */
function computeCost(closed: readonly Phase[], open: readonly OpenPhase[]): Samples {
  const [never] = closed
  return {
    'page-cpu': open.map(({ cpuPercent }, turn) => {
      const around = [closed[turn], closed[turn + 1]].map((phase) => phase?.cpuPercent ?? Number.NaN)
      return cpuPercent - around.reduce((sum, each) => sum + each, 0) / around.length
    }),
    'page-opening': open.map(({ openingSeconds }) => openingSeconds),
    'page-memory': open.map(({ megabytes }) => megabytes - (never?.megabytes ?? Number.NaN)),
  }
}
