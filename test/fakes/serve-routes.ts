import type { TestContext } from 'node:test'
import { systemClock } from '../../src/base/async/clock.ts'
import type { Route } from '../../src/serving/http/route.ts'
import { runPlainServer } from '../../src/serving/http/run-plain-server.ts'
import { silentLogger } from '../../src/base/telemetry/silent-logger.ts'

interface Ask {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Serves routes without access control on a loopback port during a test; returns a fetch for their paths. */
export async function serveRoutes(
  t: TestContext,
  routes: readonly Route[],
): Promise<(path: string, init?: Ask) => Promise<Response>> {
  const stop = new AbortController()
  const listening = Promise.withResolvers<number>()
  const running = runPlainServer(
    {
      name: 'test',
      address: '127.0.0.1',
      port: 0,
      routes,
      metrics: { requestStarted() {}, requestEnded() {} },
      limits: { all: 100, replaceable: 100 },
      log: silentLogger,
      clock: systemClock,
      onListening: listening.resolve,
    },
    stop.signal,
  )
  t.after(async () => {
    stop.abort(new Error('done'))
    await running
  })
  const port = await listening.promise
  // Without a pool: a connection that is kept would keep the server.
  return (path, init) =>
    fetch(`http://127.0.0.1:${port}${path}`, { ...init, headers: { connection: 'close', ...init?.headers } })
}

/** The status and the text of an answer. */
export async function reported(response: Promise<Response>): Promise<readonly [number, string]> {
  const answer = await response
  return [answer.status, await answer.text()]
}
