import type { CriCalls } from '../../../protocols/cri/cri-calls.ts'
import { findRunningContainer, requirePod } from './find-running-container.ts'
import { HttpError, sendErrorAnswer, toErrorAnswer } from '../../http/error-answer.ts'
import type { PodView } from '../pod-view.ts'
import type { Route } from '../../http/route.ts'

export interface RunDeps {
  readonly views: () => readonly PodView[]
  readonly calls: Pick<CriCalls, 'listContainers' | 'execSync'>
}

/** POST /run: runs a command in a container to its end, and answers with what it printed. */
export function createRunRoutes({ views, calls }: RunDeps): Route[] {
  return ['/run/:namespace/:pod/:container', '/run/:namespace/:pod/:uid/:container'].map((path) => ({
    path,
    methods: ['POST'],
    async handle(request, response) {
      try {
        const pod = requirePod(views(), request)
        const text = request.query.get('cmd') ?? ''
        if (text === '') throw new HttpError(400, 'query parameter "cmd" is required: expected a command')
        const containerId = await findRunningContainer(calls, pod, request)
        const cmd = text.split(' ')
        // Without a time limit: it ends with the command or with the client.
        const { stdout, stderr, exitCode } = await calls.execSync({ containerId, cmd, timeout: 0n }, request.signal)
        const output = Buffer.concat([stdout, stderr])
        if (exitCode !== 0)
          throw new HttpError(500, `command '${cmd.join(' ')}' exited with ${exitCode}: ${output.toString()}`)
        response.writeHead(200, { 'Content-Type': 'application/json', 'X-Content-Type-Options': 'nosniff' })
        response.end(output)
      } catch (error) {
        const { body } = toErrorAnswer(error)
        sendErrorAnswer(response, { status: error instanceof HttpError ? error.status : 500, body })
      }
    },
  }))
}
