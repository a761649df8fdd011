import type { Route, RouteRequest } from '../route.ts'
import type { Profiler } from '../../telemetry/profiler.ts'
import { ProfilerBusyError } from '../../telemetry/profiler.ts'
import { sendAnswer, sendText } from '../send-answer.ts'
import type { Answer } from '../send-answer.ts'

export interface ProfilingDeps {
  readonly profiler: Profiler
  /** The command line of this process. */
  readonly commandLine: readonly string[]
}

const DEFAULT_SECONDS = { profile: 30, heap: 10 }
const MAX_SECONDS = 600

/**
 * /debug/pprof/: profiles of this process. The paths are those of the Go kubelet, the formats are Node's: "profile" is a .cpuprofile, "heap"
 * a .heapprofile of what was allocated while it was taken.
 */
export function createProfilingRoutes({ profiler, commandLine }: ProfilingDeps): readonly Route[] {
  const take = async (name: 'profile' | 'heap', { query, signal }: RouteRequest): Promise<Answer> => {
    const seconds = Number(query.get('seconds') ?? DEFAULT_SECONDS[name])
    if (!(seconds > 0 && seconds <= MAX_SECONDS))
      return { status: 400, body: `seconds: expected more than 0 and at most ${MAX_SECONDS}\n` }
    const body = name === 'profile' ? await profiler.cpu(seconds, signal) : await profiler.heap(seconds, signal)
    const file = name === 'profile' ? 'kubelet.cpuprofile' : 'kubelet.heapprofile'
    const headers = { 'content-disposition': `attachment; filename="${file}"` }
    return { status: 200, type: 'application/json', body, headers }
  }
  return [
    {
      path: '/debug/pprof/*name',
      methods: ['GET'],
      async handle(request, response) {
        const { name } = request.parameters
        if (name === 'cmdline') return sendText(response, 200, commandLine.join('\0'))
        if (name !== 'profile' && name !== 'heap')
          return sendText(response, 404, 'no such profile, there are: profile, heap, cmdline\n')
        try {
          sendAnswer(response, await take(name, request))
        } catch (error) {
          if (!(error instanceof ProfilerBusyError)) throw error
          sendText(response, 500, `${error.message}\n`)
        }
      },
    },
  ]
}
