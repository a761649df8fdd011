import { dirname, basename } from 'node:path'
import { Wakeup } from '../base/async/wakeup.ts'
import { readEnd } from '../system/files/read-end.ts'
import { readFrom } from '../system/files/read-from.ts'
import { realFolder } from '../system/files/files-and-folders.ts'
import { watchDirectory } from '../system/files/watch-directory.ts'
import type { StandaloneDeps } from './node/node-deps.ts'
import { exitCodes, NodeError } from './node/node-error.ts'
import { computeNodeLayout } from './node/node-layout.ts'
import type { NodeLayout } from './node/node-layout.ts'

/** The parts of a node that have a log. */
export const LOGGED_PARTS = ['agent', 'api', 'controllers', 'runtime', 'up'] as const

export interface LogsOptions {
  readonly state: string
  readonly part: (typeof LOGGED_PARTS)[number]
  readonly follow: boolean
  readonly lines: number
}

interface LogsDeps extends StandaloneDeps {
  /** Text as it is, without a line end of its own. */
  write(text: string): void
}

// More than most lines are long.
const BYTES_PER_LINE = 4096
// In case the kernel does not report a change.
const CHECK_MS = 5000

/** Shows the end of a log, and with "follow" what is added until the signal aborts. */
export async function runLogs(deps: LogsDeps, options: LogsOptions, signal: AbortSignal): Promise<void> {
  const layout = computeNodeLayout(await realFolder(options.state))
  const file = logFile(layout, options.part)
  const end = await readEnd(file, options.lines * BYTES_PER_LINE)
  if (end === undefined) {
    const hint =
      options.part === 'runtime'
        ? '; a runtime that is not the own containerd, such as Docker, keeps its log itself'
        : ''
    throw new NodeError(`There is no log of ${options.part}: ${file}${hint}`, exitCodes.otherState)
  }
  const lines = end.split('\n')
  // The last one is what follows the last line end: nothing, or a line that is being written.
  const shown = lines.slice(-options.lines - 1).join('\n')
  deps.write(shown)
  if (options.follow) await follow(deps, file, signal)
}

function logFile(layout: NodeLayout, part: LogsOptions['part']): string {
  const { agentLog, apiLog, controllersLog, upLog, containerd } = layout
  return { agent: agentLog, api: apiLog, controllers: controllersLog, runtime: containerd.log, up: upLog }[part]
}

async function follow(deps: LogsDeps, file: string, signal: AbortSignal): Promise<void> {
  const wakeup = new Wakeup()
  using _ = watchDirectory(dirname(file), {
    onChange: (name) => (name === undefined || name === basename(file) ? wakeup.wake() : undefined),
    onFailure: () => wakeup.wake(),
  })
  let position = (await readFrom(file, Infinity)).end
  for (;;) {
    const { text, end } = await readFrom(file, position)
    if (text !== '') deps.write(text)
    // One that was emptied begins again.
    position = end
    if (text === '') await wakeup.wait({ clock: deps.clock, ms: CHECK_MS }, signal)
  }
}
