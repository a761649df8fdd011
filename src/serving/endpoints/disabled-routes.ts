import type { Route } from '../http/route.ts'
import { sendText } from '../http/send-answer.ts'

const DEBUG_PATHS = [
  '/run',
  '/exec',
  '/attach',
  '/portForward',
  '/containerLogs',
  '/runningpods',
  '/debug/pprof',
  '/logs',
]

/** Answers for everything below a path that it is switched off. */
export function createDisabledRoutes(paths: readonly string[], text: string): readonly Route[] {
  const handle: Route['handle'] = async (_, response) => sendText(response, 405, text)
  return paths.flatMap((path): readonly Route[] => [
    { path, methods: 'any', handle },
    { path: `${path}/*rest`, methods: 'any', handle },
  ])
}

/** What reaches into the node and its containers, where that is switched off. */
export function createDisabledDebugRoutes(): readonly Route[] {
  return createDisabledRoutes(DEBUG_PATHS, 'Debug endpoints are disabled.\n')
}
