import type { ObservedPod } from '../../model/pod/observed-pod.ts'
import type { Verbosity } from '../../base/telemetry/create-logger.ts'
import type { Profiler } from '../../base/telemetry/profiler.ts'
import { createConfigzRoute } from './configz-route.ts'
import { createDebugFlagsRoute } from './debug-flags-route.ts'
import { createDisabledDebugRoutes, createDisabledRoutes } from './disabled-routes.ts'
import { createLogsRoutes } from './logs/logs-routes.ts'
import type { Journal } from './logs/logs-routes.ts'
import { createRunningPodsRoute } from './pods-routes.ts'
import { createProfilingRoutes } from './profiling-routes.ts'
import { createFlagzRoute, createStatuszRoute } from './z-pages.ts'
import type { StatuszInfo } from './z-pages.ts'
import type { NodeLogs } from '../../system/directories/logs/node-logs.ts'
import type { Route } from '../http/route.ts'

/** What is served and what is switched off. */
export interface EndpointSwitches {
  /** Everything that reaches into the node and its containers. */
  readonly debugging: boolean
  readonly systemLogs: boolean
  readonly systemLogQuery: boolean
  readonly profiling: boolean
  readonly contention: boolean
  readonly debugFlags: boolean
  readonly checkpoint: boolean
  readonly flagz: boolean
  readonly statusz: boolean
}

export interface KubeletRoutesDeps {
  readonly switches: EndpointSwitches
  /** What every admitted client may see: health, metrics, pods, stats. */
  readonly sharedRoutes: readonly Route[]
  /** What reaches into containers: logs, exec and the like. */
  readonly containers: readonly Route[]
  readonly observed: () => readonly ObservedPod[]
  readonly configuration: () => unknown
  readonly flags: () => Readonly<Record<string, string>>
  readonly status: () => Omit<StatuszInfo, 'paths'>
  readonly logs: NodeLogs
  readonly journal: Journal
  readonly verbosity: Verbosity
  readonly profiler: Profiler
  readonly commandLine: readonly string[]
}

/** All endpoints of the API, as far as they are switched on. What is off and was known says so. */
export function createKubeletRoutes(deps: KubeletRoutesDeps): readonly Route[] {
  const { switches, sharedRoutes } = deps
  if (!switches.debugging) return [...sharedRoutes, ...createDisabledDebugRoutes()]
  const routes: readonly Route[] = [
    ...sharedRoutes,
    ...deps.containers.filter(({ path }) => switches.checkpoint || toPrefix(path) !== '/checkpoint'),
    createRunningPodsRoute(deps.observed),
    createConfigzRoute(deps.configuration),
    ...(switches.systemLogs
      ? createLogsRoutes({ logs: deps.logs, journal: switches.systemLogQuery ? deps.journal : undefined })
      : createDisabledRoutes(['/logs'], 'logs endpoint is disabled.\n')),
    ...(switches.profiling
      ? createProfilingRoutes({ ...deps, contention: switches.contention })
      : createDisabledRoutes(['/debug/pprof'], 'profiling endpoint is disabled.\n')),
    ...(switches.debugFlags
      ? [createDebugFlagsRoute(deps.verbosity)]
      : createDisabledRoutes(['/debug/flags/v'], 'flags endpoint is disabled.\n')),
    ...(switches.flagz ? [createFlagzRoute(deps.flags)] : []),
  ]
  if (!switches.statusz) return routes
  const paths = [...new Set([...routes.map(({ path }) => toPrefix(path)), '/statusz'])].sort()
  return [...routes, createStatuszRoute(() => ({ ...deps.status(), paths }))]
}

function toPrefix(path: string): string {
  return path.replace(/\/[:*].*$/, '')
}
