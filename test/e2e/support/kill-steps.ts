/**
 * What kill switches share, in the process of the agent: it notes steps, and kills the process at those that a plan names, once at each. A pod
 * that has come to its step waits there until no other comes to its own any more; what is under way for others is let through to its
 * end. One kill then hits all pods that wait, each exactly where it should, and all others between two steps.
 */
import { appendFileSync, readFileSync } from 'node:fs'
import process from 'node:process'
import type { KillMoment, KillPlan, NotedCall } from './kill-plan.ts'

/** A step that is about to be taken. */
export interface Step {
  readonly pod: string
  /** What is done; the same again gets the next number. */
  readonly kind: string
  readonly attempt: number
  /** The agent gives it up after a while: one that was held back would be given up without ever having begun. */
  readonly isTimed?: boolean
}
type Call = Omit<NotedCall, 'at' | 'event'>

// Long enough for a request to be on its way, shorter than it takes to be answered.
const ON_ITS_WAY_MS = 3
// When no other call arrives for so long, none will arrive soon.
const QUIET_MS = Number(process.env['KILL_QUIET_MS'] ?? 200)

// What the agent starts must not be loaded with this too.
delete process.env['NODE_OPTIONS']
const folder = process.env['KILL_SWITCH'] ?? ''
const journal = `${folder}/journal`
const earlier = readFileSync(journal, 'utf8')
  .split('\n')
  .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as NotedCall]))
const struck = new Set(earlier.flatMap(({ pod, step, event }) => (event === 'killed' ? [`${pod} ${step}`] : [])))
const counts = new Map<string, number>()
for (const { pod, step, event } of earlier) {
  const end = step.lastIndexOf('#')
  if (event === 'sent') counts.set(`${pod} ${step.slice(0, end)}`, Number(step.slice(end + 1)))
}

const plan = JSON.parse(readFileSync(`${folder}/plan.json`, 'utf8')) as KillPlan

const waiting: { readonly call: Call; readonly when: KillMoment; readonly last: () => void }[] = []
/** Calls that wait without end must not be garbage collected before the end. */
const kept: unknown[] = []
const children = new Set<{ readonly pid?: number | undefined }>()
let underWay = 0
let striking = false
let quiet: NodeJS.Timeout | undefined

/** A child process that may be killed together with the agent. */
export function noteChild(child: { readonly pid?: number | undefined; once(event: 'exit', on: () => void): unknown }) {
  children.add(child)
  child.once('exit', () => children.delete(child))
}

/** Takes a step, or dies at it: then the promise never ends. */
export function takeStep<T>(step: Step, take: () => Promise<T>): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  if (plan[step.pod] !== undefined) kept.push(promise)
  watchStep(step, (done) => {
    take().then(
      (result) => done(true, () => resolve(result)),
      (error: unknown) => done(false, () => reject(error)),
    )
  })
  return promise
}

/** The same for what answers by a callback: "begin" is called unless the agent dies before, and what it is given once the answer is there. */
export function watchStep(step: Step, begin: (done: (ok: boolean, answer: () => void) => void) => void): void {
  const { isTimed = false } = step
  // Nothing new begins any more that can wait for the next agent.
  if (striking && !isTimed) return
  const call = count(step)
  const when = isPlanned(call) ? plan[call.pod]?.when : undefined
  const start = () => {
    note({ ...call, event: 'sent' })
    begin(() => {})
  }
  if (when === 'before') return waitForKill(call, when, () => {})
  if (when === 'unanswered' || when === 'together') {
    if (isTimed) start()
    return waitForKill(call, when, isTimed ? () => {} : start)
  }
  note({ ...call, event: 'sent' })
  underWay += 1
  begin((ok, answer) => {
    underWay -= 1
    note({ ...call, event: ok ? 'answered' : 'failed' })
    if (when === 'answered') {
      kept.push(answer)
      return waitForKill(call, when, () => {})
    }
    answer()
    if (striking) strike()
  })
}

function count({ pod, kind, attempt }: Step): Call {
  const number = (counts.get(`${pod} ${kind}`) ?? 0) + 1
  counts.set(`${pod} ${kind}`, number)
  return { pod, step: `${kind}#${number}`, attempt }
}

function isPlanned({ pod, step }: Call): boolean {
  return plan[pod]?.steps.includes(step) === true && !struck.has(`${pod} ${step}`)
}

function note(call: Omit<NotedCall, 'at'>): void {
  appendFileSync(journal, `${JSON.stringify({ at: Date.now(), ...call })}\n`)
}

/** Keeps a call at its step until the kill; what it does last is done just before. */
function waitForKill(call: Call, when: KillMoment, last: () => void): void {
  waiting.push({ call, when, last })
  clearTimeout(quiet)
  if (striking) strike()
  else quiet = setTimeout(strike, QUIET_MS)
}

/** Once nothing else is under way: what has to be unanswered is sent, and that is the end. */
function strike(): void {
  striking = true
  if (underWay > 0) return
  // One kill cannot both take children along and leave them: the others wait for the next.
  const leavesChildren = waiting.some(({ when }) => when === 'unanswered')
  const takesChildren = !leavesChildren && waiting.some(({ when }) => when === 'together')
  for (const { call, when, last } of waiting) {
    if (when === 'together' && leavesChildren) continue
    note({ ...call, event: 'killed' })
    last()
  }
  setTimeout(() => {
    if (takesChildren) for (const { pid } of children) if (pid !== undefined) killGroup(pid)
    process.kill(process.pid, 'SIGKILL')
  }, ON_ITS_WAY_MS)
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // Gone by itself.
  }
}
