import { AbortScope } from '../../base/async/abort-scope.ts'
import { BackOff } from '../../base/async/back-off.ts'
import type { Clock } from '../../base/async/clock.ts'
import type { CriCalls } from './cri-calls.ts'
import type { CriMethod } from './cri-methods.ts'

/** What all of these calls have in common; only a stop has a time. */
interface Request {
  readonly timeout?: bigint | undefined
}

type Call = (request: Request, signal: AbortSignal) => Promise<object>

interface Rule {
  /** How long an answer is waited for before it is asked again. */
  readonly patienceMs: (request: Request) => number
  /** What is asked then. */
  readonly again: (request: Request) => Request
}

const PAUSE_MS = 10_000
// Longer each time: what is asked again costs a slow runtime the time that it needs to answer.
const PAUSES = { firstMs: PAUSE_MS, longestMs: 60_000 }
const CHANGE_MS = 20_000
// A container that has had its time gets the least.
const LAST_STOP_SECONDS = 2n

const question: Rule = { patienceMs: () => PAUSE_MS, again: (request) => request }
const change: Rule = { ...question, patienceMs: () => CHANGE_MS }
const stop: Rule = {
  patienceMs: ({ timeout = 0n }) => Math.max(0, Number(timeout)) * 1000 + PAUSE_MS,
  again: (request) => ({ ...request, timeout: LAST_STOP_SECONDS }),
}

// Only what may be asked twice at a time: questions, and changes to a state in which nothing more is to be done.
const RULES: { readonly [M in CriMethod]?: Rule } = {
  status: question,
  listPodSandbox: question,
  listContainers: question,
  podSandboxStatus: question,
  containerStatus: question,
  stopContainer: stop,
  stopPodSandbox: change,
  removeContainer: change,
  removePodSandbox: change,
}

/**
 * The same calls, but one that hangs is asked again now and then: a runtime that was ill and is well again may never answer what it was
 * asked meanwhile. The first good answer counts. Failures and the deadline are those of the first call.
 */
export function askAgain<T extends CriCalls>(calls: T, clock: Clock): T {
  const patient = Object.entries(RULES).map(([name, rule]) => {
    const call = calls[name as CriMethod] as unknown as Call
    const ask = async (request: Request, signal: AbortSignal) => {
      using scope = new AbortScope(signal)
      const later = repeat({ call, rule, clock }, request, scope.signal)
      return await Promise.race([call(request, scope.signal), later])
    }
    return [name, ask]
  })
  return { ...calls, ...Object.fromEntries(patient) }
}

/** Resolves to the first good answer; until then it asks again and again, each time in place of what it asked before. */
async function repeat(
  { call, rule, clock }: { readonly call: Call; readonly rule: Rule; readonly clock: Clock },
  request: Request,
  signal: AbortSignal,
): Promise<object> {
  await clock.sleep(rule.patienceMs(request), signal)
  const pauses = new BackOff(PAUSES)
  for (;;) {
    using scope = new AbortScope(signal)
    // One that fails is no answer, and no reason to ask sooner.
    const answer = call(rule.again(request), scope.signal).catch(() => new Promise<never>(() => {}))
    const found = await Promise.race([answer, clock.sleep(pauses.next(), scope.signal)])
    if (found !== undefined) return found
  }
}
