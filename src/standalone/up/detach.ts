import { dirname } from 'node:path'
import { makeFolder } from '../../system/files/state/durable-file.ts'
import { inspectPath } from '../../system/files/read-bounded-file.ts'
import { readFrom } from '../../system/files/read-from.ts'
import { listFolder, realFolder, removeTree } from '../../system/files/files-and-folders.ts'
import { startProcess } from '../../system/processes/start-process.ts'
import type { ProcessExit } from '../../system/processes/start-process.ts'
import { checkRoot, toFolderError } from '../node/check-requirements.ts'
import { exitCodes, NodeError } from '../node/node-error.ts'
import type { ExitCode } from '../node/node-error.ts'
import { computeNodeLayout } from '../node/node-layout.ts'
import type { NodeLayout } from '../node/node-layout.ts'
import { findNoted } from '../node/known-process.ts'
import { readNodeRecord } from '../node/node-record.ts'
import type { NodeRecord } from '../node/node-record.ts'
import { OWN_NAME } from '../node/own-name.ts'
import { describePage } from '../node/page/describe-page.ts'
import { stateOption } from '../node/state-option.ts'
import { NODE_IS_UP } from './announce-node.ts'
import { waitUntilReady } from '../wait-until-ready.ts'
import type { WaitDeps } from '../wait-until-ready.ts'

export interface DetachOptions {
  readonly state: string
  /** The arguments of "up" without those of this. */
  readonly args: readonly string[]
  /** How long to wait for what is applied; undefined: not at all. */
  readonly waitMs: number | undefined
  /** There is a folder to apply. */
  readonly isApplying: boolean
}

interface DetachDeps extends WaitDeps {
  readonly ownCommand: string
  /** Whether the output goes to a person, not into a file. */
  readonly isTerminal: boolean
}

const POLL_MS = 50
const CODES: ReadonlySet<number> = new Set(Object.values(exitCodes))

/** Starts "deckhand up" as a process of its own, shows what it says until the node is up, and waits for what is applied when asked to. */
export async function runDetached(deps: DetachDeps, options: DetachOptions, signal: AbortSignal): Promise<void> {
  checkRoot(deps.userId)
  const wasThere = (await inspectPath(options.state)).kind !== 'missing'
  const layout = await openLog(options.state)
  const running = options.waitMs === undefined ? undefined : await findRunning(layout, options)
  try {
    if (running === undefined) await startUp(deps, layout, options.args, signal)
    else deps.say('The node is up already.')
  } catch (error) {
    if (signal.aborted) throw notWaiting('goes on starting', layout)
    if (!wasThere) await removeUnused(layout)
    throw error
  }
  if (options.waitMs === undefined) return
  const isApplying = running === undefined ? options.isApplying : running.apply !== undefined
  const began = deps.clock.monotonic()
  const unready = await waitUntilReady(deps, { layout, isApplying }, options.waitMs, signal).catch((error: unknown) => {
    throw signal.aborted ? notWaiting('stays up', layout) : error
  })
  if (unready.length === 0) return deps.say('Everything is ready.')
  const seconds = Math.round((deps.clock.monotonic() - began) / 1000)
  throw new NodeError(
    `Not everything is ready after ${seconds} s; the node stays up:\n${unready.join('\n')}`,
    exitCodes.failed,
  )
}

/** The node that runs, for somebody who only waits for it: with options of its own "up" says that it runs already. */
async function findRunning(layout: NodeLayout, { args }: DetachOptions): Promise<NodeRecord | undefined> {
  const isPlain = args.every((arg) => arg.startsWith('--state='))
  const isUp = isPlain && (await findNoted(layout.upIdentity)) !== undefined
  return isUp ? await readNodeRecord(layout.record) : undefined
}

/** For somebody who does not want to wait: what was started does not end with the waiting. */
function notWaiting(what: string, layout: NodeLayout): NodeError {
  const message = `Not waiting any more. The node ${what}: "${OWN_NAME} down${stateOption(layout)}" stops it`
  return new NodeError(message, exitCodes.failed)
}

async function openLog(state: string): Promise<NodeLayout> {
  try {
    await makeFolder(state)
    const layout = computeNodeLayout(await realFolder(state))
    await makeFolder(dirname(layout.upLog), 0o750)
    return layout
  } catch (error) {
    throw toFolderError(state, error)
  }
}

async function startUp(
  deps: DetachDeps,
  layout: NodeLayout,
  args: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  let { end } = await readFrom(layout.upLog, Infinity)
  const started = await startProcess({ argv: [deps.ownCommand, 'up', ...args], logFile: layout.upLog })
  let exit: ProcessExit | undefined
  void started.exited.then((value) => (exit = value)) // Never rejects.
  let text = ''
  // What it says last when it fails, which is for our own last word.
  const failure: string[] = []
  for (;;) {
    const hasEnded = exit !== undefined
    const read = await readFrom(layout.upLog, end)
    end = read.end
    const lines = `${text}${read.text}`.split('\n')
    text = lines.pop() ?? ''
    for (const line of lines) {
      if (line === NODE_IS_UP) return await announce(deps, layout, started.pid)
      if (failure.length > 0 || line.startsWith('deckhand: ')) failure.push(line)
      else deps.say(line)
    }
    if (hasEnded) throw toExitError(exit, failure)
    if (lines.length === 0) await deps.clock.sleep(POLL_MS, signal)
  }
}

async function announce(deps: DetachDeps, layout: NodeLayout, pid: number): Promise<void> {
  deps.say(`${NODE_IS_UP} (pid ${pid})`)
  deps.say(`  kubectl       export KUBECONFIG=${layout.adminKubeconfig}`)
  deps.say(`  see pods      kubectl get pods -A, or ${OWN_NAME} status${stateOption(layout)}`)
  const page = await describePage(deps, layout)
  if (page !== undefined) deps.say(`  look at it    ${page}`)
  deps.say(`  what it says  ${layout.upLog}`)
  deps.say(`  stop all      ${OWN_NAME} down${stateOption(layout)}`)
}

function toExitError(exit: ProcessExit | undefined, lines: readonly string[]): NodeError {
  const said = lines
    .filter((line) => line !== '')
    .join('\n')
    .replace(/^deckhand: /, '')
  const code = exit?.exitCode ?? exitCodes.failed
  const isKnown = CODES.has(code) && code !== exitCodes.done
  return new NodeError(said || `"deckhand up" ended with ${code}`, isKnown ? (code as ExitCode) : exitCodes.failed)
}

/** What was made for a node that was refused. */
async function removeUnused(layout: NodeLayout): Promise<void> {
  const names = await listFolder(layout.state)
  if (names.every((name) => name === 'logs') && (await listFolder(dirname(layout.upLog))).length <= 1)
    await removeTree(layout.state)
}
