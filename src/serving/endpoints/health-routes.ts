import type { Route } from '../http/route.ts'
import { sendText } from '../http/send-answer.ts'
import type { Answer } from '../http/send-answer.ts'

/** Says what is wrong, or undefined. */
export type HealthzCheck = () => string | undefined

export interface HealthDeps {
  readonly checks: Readonly<Record<string, HealthzCheck>>
  /** Called after every check. */
  readonly onChecked: (name: string, isHealthy: boolean) => void
}

/** /healthz with the checks together, and /healthz/NAME for each alone. */
export function createHealthRoutes({ checks, onChecked }: HealthDeps): readonly Route[] {
  const runCheck = (name: string, check: HealthzCheck) => {
    const problem = check()
    onChecked(name, problem === undefined)
    return { name, problem }
  }
  const all: Route = {
    path: '/healthz',
    methods: 'any',
    async handle({ query }, response) {
      const excluded = new Set(query.getAll('exclude'))
      const results = Object.entries(checks).map(([name, check]) =>
        excluded.delete(name) ? { name, excluded: true } : runCheck(name, check),
      )
      const { status, body } = toAnswer(results, [...excluded], query.has('verbose'))
      sendText(response, status, String(body))
    },
  }
  const single = Object.entries(checks).map(([name, check]): Route => ({
    path: `/healthz/${name}`,
    methods: 'any',
    async handle(_, response) {
      const { problem } = runCheck(name, check)
      if (problem === undefined) sendText(response, 200, 'ok')
      else sendText(response, 500, `internal server error: ${problem}\n`)
    },
  }))
  return [all, ...single]
}

interface CheckResult {
  readonly name: string
  readonly problem?: string | undefined
  readonly excluded?: boolean
}

function toAnswer(results: readonly CheckResult[], unknown: readonly string[], verbose: boolean): Answer {
  const healthy = results.every(({ problem }) => problem === undefined)
  if (healthy && !verbose) return { status: 200, body: 'ok' }
  const lines = [
    ...results.map(({ name, problem, excluded }) => {
      if (excluded === true) return `[+]${name} excluded: ok`
      // What is wrong stands in the log, and at the path of the check.
      return problem === undefined ? `[+]${name} ok` : `[-]${name} failed: reason withheld`
    }),
    ...unknown.map((name) => `warn: there is no check "${name}" to exclude`),
    `healthz check ${healthy ? 'passed' : 'failed'}`,
  ]
  return { status: healthy ? 200 : 500, body: `${lines.join('\n')}\n` }
}
