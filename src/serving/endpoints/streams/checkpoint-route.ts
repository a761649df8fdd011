import { join } from 'node:path'
import type { Clock } from '../../../base/async/clock.ts'
import type { CriCalls } from '../../../protocols/cri/cri-calls.ts'
import { allContainers } from '../../../model/pod/pod-containers.ts'
import { podFullName } from '../../../model/pod/pod.ts'
import { findRunningContainer, requirePod } from './find-running-container.ts'
import { HttpError, sendErrorAnswer, toErrorAnswer } from '../../http/error-answer.ts'
import type { PodView } from '../pod-view.ts'
import type { Route, RouteRequest } from '../../http/route.ts'
import { sendAnswer } from '../../http/send-answer.ts'
import { errorMessage } from '../../../base/telemetry/error-text.ts'
import { toApiTime } from '../../../model/text/api-time.ts'

export interface CheckpointDeps {
  readonly views: () => readonly PodView[]
  readonly calls: Pick<CriCalls, 'listContainers' | 'checkpointContainer'>
  /** Where the archives go: "checkpoints" below the agent's own directory. */
  readonly checkpointsDirectory: string
  /** Makes a directory that only root may read: an archive has all that the container had in memory. */
  readonly makeDirectory: (path: string) => Promise<void>
  readonly clock: Clock
}

/** POST /checkpoint: writes the whole state of a running container to an archive. */
export function createCheckpointRoute(deps: CheckpointDeps): Route {
  return {
    path: '/checkpoint/:namespace/:pod/:container',
    methods: ['POST'],
    async handle(request, response) {
      try {
        const location = await checkpoint(deps, request)
        const body = JSON.stringify({ items: [location] })
        sendAnswer(response, { status: 200, type: 'application/json', body })
      } catch (error) {
        sendErrorAnswer(response, toErrorAnswer(error))
      }
    },
  }
}

async function checkpoint(deps: CheckpointDeps, request: RouteRequest): Promise<string> {
  const { namespace, pod: name, container = '' } = request.parameters
  const pod = requirePod(deps.views(), request)
  if (!allContainers(pod).some((one) => one.container.name === container))
    throw new HttpError(404, `container ${container} does not exist`)
  const timeout = parseTimeout(request.query)
  const time = toApiTime(deps.clock.now())
  const location = join(deps.checkpointsDirectory, `checkpoint-${podFullName(pod)}-${container}-${time}.tar`)
  try {
    const containerId = await findRunningContainer(deps.calls, pod, request)
    await deps.makeDirectory(deps.checkpointsDirectory)
    await deps.calls.checkpointContainer({ containerId, location, timeout }, request.signal)
  } catch (error) {
    const why = errorMessage(error)
    throw new HttpError(500, `checkpointing of ${namespace}/${name}/${container} failed (${why})`, { cause: error })
  }
  return location
}

/** Seconds; the last one counts. */
function parseTimeout(query: URLSearchParams): bigint {
  const text = query.getAll('timeout').at(-1) ?? '0'
  if (!/^[+-]?\d{1,18}$/.test(text)) throw new HttpError(404, 'cannot parse value of timeout parameter')
  return BigInt(text.replace(/^\+/, ''))
}
