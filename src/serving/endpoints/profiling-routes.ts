import type { Route, RouteRequest } from '../http/route.ts'
import type { Profiler } from '../../base/telemetry/profiler.ts'
import { ProfilerBusyError } from '../../base/telemetry/profiler.ts'
import { sendAnswer, sendText } from '../http/send-answer.ts'
import type { Answer } from '../http/send-answer.ts'

export interface ProfilingDeps {
  readonly profiler: Profiler
  /** Whether waiting for one another is profiled too. */
  readonly contention: boolean
  /** The command line of this process. */
  readonly commandLine: readonly string[]
}

const DEFAULT_SECONDS = { profile: 30, heap: 10, block: 10 }
const FILES = { profile: 'kubelet.cpuprofile', heap: 'kubelet.heapprofile', block: 'kubelet-block.json' }
const METHODS = { profile: 'cpu', heap: 'heap', block: 'block' } as const
const MAX_SECONDS = 600

/**
 * /debug/pprof/: profiles of this process. The paths are those of the Go kubelet, the formats are Node's: "profile" is a .cpuprofile, "heap"
 * a .heapprofile of what was allocated while it was taken, "block" how long the event loop was held up.
 */
export function createProfilingRoutes({ profiler, contention, commandLine }: ProfilingDeps): readonly Route[] {
  const known = ['profile', 'heap', ...(contention ? ['block'] : []), 'cmdline']
  const take = async (name: keyof typeof FILES, { query, signal }: RouteRequest): Promise<Answer> => {
    const seconds = Number(query.get('seconds') ?? DEFAULT_SECONDS[name])
    if (!(seconds > 0 && seconds <= MAX_SECONDS))
      return { status: 400, body: `seconds: expected more than 0 and at most ${MAX_SECONDS}\n` }
    const body = await profiler[METHODS[name]](seconds, signal)
    const headers = { 'content-disposition': `attachment; filename="${FILES[name]}"` }
    return { status: 200, type: 'application/json', body, headers }
  }
  return [
    {
      path: '/debug/pprof',
      methods: ['GET'],
      handle: async (_, response) => sendText(response, 200, known.map((name) => `/debug/pprof/${name}\n`).join('')),
    },
    {
      path: '/debug/pprof/*name',
      methods: ['GET'],
      async handle(request, response) {
        const { name } = request.parameters
        if (name === 'cmdline') return sendText(response, 200, commandLine.join('\0'))
        if (name !== 'profile' && name !== 'heap' && !(name === 'block' && contention))
          return sendText(response, 404, `no such profile, there are: ${known.join(', ')}\n`)
        try {
          sendAnswer(response, await take(name, request))
        } catch (error) {
          if (!(error instanceof ProfilerBusyError)) throw error
          sendText(response, 409, `${error.message}, ask again when it has ended\n`)
        }
      },
    },
  ]
}
