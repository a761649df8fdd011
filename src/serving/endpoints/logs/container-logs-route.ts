import type { ServerResponse } from 'node:http'
import type { Clock } from '../../../base/async/clock.ts'
import { CONTAINER_RUNNING } from '../../../protocols/cri/cri-methods.ts'
import type { CriCalls } from '../../../protocols/cri/cri-calls.ts'
import { CriCallError } from '../../../protocols/cri/cri-call-error.ts'
import type { LogDirectory, LogPlace } from '../../../system/directories/logs/log-directory.ts'
import { readLog } from '../../../pods/logs/read-log.ts'
import type { LogRequest } from '../../../pods/logs/read-log.ts'
import { allContainers } from '../../../model/pod/pod-containers.ts'
import { writeBytes } from '../../../protocols/streams/write-bytes.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import { findLogContainer } from './find-log-container.ts'
import { HttpError, sendErrorAnswer, toErrorAnswer } from '../../http/error-answer.ts'
import { parseContainerLogQuery } from './parse-container-log-query.ts'
import type { ContainerLogQuery } from './parse-container-log-query.ts'
import { findContainerStatus, findPod, toRuntimeId } from '../pod-view.ts'
import type { PodView } from '../pod-view.ts'
import type { Route, RouteRequest } from '../../http/route.ts'

/** What the route reads from. */
export interface ContainerLogsDeps {
  readonly views: () => readonly PodView[]
  readonly calls: Pick<CriCalls, 'containerStatus'>
  /** openLogDirectory() of src/system. */
  readonly openDirectory: (place: LogPlace) => Promise<LogDirectory>
  readonly podLogsDirectory: string
  /** The feature gate PodLogsQuerySplitStreams. */
  readonly splitStreams: boolean
  readonly clock: Clock
  readonly log: Logger
}

/** GET /containerLogs: what a container printed, and with follow what it prints. */
export function createContainerLogsRoute(deps: ContainerLogsDeps): Route {
  return {
    path: '/containerLogs/:namespace/:pod/:container',
    methods: ['GET'],
    async handle(request, response) {
      try {
        await sendLog(deps, request, response)
      } catch (error) {
        // Whatever the runtime or the disk say of a log is the request's fault, by Kubernetes' rules.
        const { body } = toErrorAnswer(error)
        sendErrorAnswer(response, { status: error instanceof HttpError ? error.status : 400, body })
      }
    },
  }
}

async function sendLog(deps: ContainerLogsDeps, request: RouteRequest, response: ServerResponse): Promise<void> {
  const { parameters, signal } = request
  const query = parseContainerLogQuery(request.query, { splitStreams: deps.splitStreams, now: deps.clock.now() })
  const { namespace = '', pod = '', container = '' } = parameters
  const view = findPod(deps.views(), namespace, pod)
  if (view === undefined) throw new HttpError(404, `pod "${pod}" does not exist`)
  if (!allContainers(view.pod).some((one) => one.container.name === container))
    throw new HttpError(404, `container "${container}" not found in pod "${pod}"`)
  const containerId = findLogContainer(view, container, query.previous)
  const desired = await toDesired(deps, query, containerId, signal)
  const mayPrint = createMayPrint(deps, { namespace, pod, container, containerId })
  for await (const chunk of readLog({ ...deps, mayPrint }, desired, signal)) {
    if (!response.headersSent) {
      response.writeHead(200, { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' })
      response.flushHeaders()
    }
    if (chunk.length > 0) await writeBytes(response, chunk)
  }
  response.end()
}

async function toDesired(
  { calls, podLogsDirectory }: ContainerLogsDeps,
  query: ContainerLogQuery,
  containerId: string,
  signal: AbortSignal,
): Promise<LogRequest> {
  const { status } = await calls.containerStatus({ containerId }, signal)
  const path = status?.logPath ?? ''
  if (path === '') throw new HttpError(400, `Cannot show the log of container "${containerId}": the runtime keeps none`)
  return { ...query, place: { root: podLogsDirectory, path, containerId } }
}

interface Instance {
  readonly namespace: string
  readonly pod: string
  readonly container: string
  readonly containerId: string
}

/** Asks the runtime only when the agent does not know the instance to run: followers check every second, and mostly nothing has changed. */
function createMayPrint({ views, calls }: ContainerLogsDeps, instance: Instance) {
  const runsHere = () => {
    const view = findPod(views(), instance.namespace, instance.pod)
    const status = view && findContainerStatus(view, instance.container)
    return status?.state?.running !== undefined && toRuntimeId(status.containerID) === instance.containerId
  }
  return async (signal: AbortSignal): Promise<boolean> => {
    if (runsHere()) return true
    try {
      const { status } = await calls.containerStatus({ containerId: instance.containerId }, signal)
      return status?.state === CONTAINER_RUNNING
    } catch (error) {
      // A runtime that is away comes back, and its containers go on meanwhile.
      if (error instanceof CriCallError) return error.code === 'Unavailable'
      throw error
    }
  }
}
