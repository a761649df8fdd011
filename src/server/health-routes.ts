import { plain } from './run-http-server.ts'
import type { Reply, Routes } from './run-http-server.ts'

/** Says what is wrong, or undefined. */
export type HealthCheck = () => string | undefined

/** /healthz with the checks together, and /healthz/NAME for each alone. */
export function createHealthRoutes(checks: Readonly<Record<string, HealthCheck>>): Routes {
  const one = Object.fromEntries(
    Object.entries(checks).map(([name, check]) => [`/healthz/${name}`, () => toReply({ [name]: check }, false)]),
  )
  return { '/healthz': (query) => toReply(checks, query.has('verbose')), ...one }
}

function toReply(checks: Readonly<Record<string, HealthCheck>>, verbose: boolean): Reply {
  const results = Object.entries(checks).map(([name, check]) => ({ name, problem: check() }))
  const healthy = results.every(({ problem }) => problem === undefined)
  if (healthy && !verbose) return plain(200, 'ok')
  const lines = results.map(({ name, problem }) =>
    problem === undefined ? `[+]${name} ok` : `[-]${name} failed: ${problem}`,
  )
  return plain(healthy ? 200 : 500, `${lines.join('\n')}\nhealthz check ${healthy ? 'passed' : 'failed'}\n`)
}
