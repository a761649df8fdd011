/** The friendly command: reads the command line, wires the standalone node, and turns its end into an exit code. */
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { ShutdownError } from './base/async/abort-errors.ts'
import { systemClock } from './base/async/clock.ts'
import { EXECUTABLE_FOLDER, isExecutable } from './base/builtin/executable-files.ts'
import { formatOwnBuild, ownBuild } from './base/builtin/own-build.ts'
import { hostname } from 'node:os'
import { openClient } from './standalone/node/api/open-client.ts'
import { runNodeControllers } from './standalone/node/api/run-node-controllers.ts'
import { runNodeScheduler } from './standalone/node/api/run-node-scheduler.ts'
import { serveApi } from './standalone/node/api/serve-api.ts'
import { servePage } from './standalone/node/page/serve-page.ts'
import { parseArguments } from './standalone/arguments/parse-arguments.ts'
import type { ImagesOptions } from './standalone/images/images-options.ts'
import { createProgress } from './standalone/progress.ts'
import type { Command } from './standalone/arguments/parse-arguments.ts'
import { runDown } from './standalone/down.ts'
import { helpText } from './standalone/help.ts'
import type { ClientDeps, StandaloneDeps } from './standalone/node/node-deps.ts'
import { ownMemory } from './standalone/node/own-memory.ts'
import { exitCodes, NodeError } from './standalone/node/node-error.ts'
import type { ExitCode } from './standalone/node/node-error.ts'
import { runShutdown } from './standalone/shutdown.ts'
import { runStatus } from './standalone/status.ts'
import { runUp } from './standalone/up/run-up.ts'
import { runWhy } from './standalone/why.ts'
import { askSpeaker } from './protocols/docker/speaks-docker.ts'
import { silentLogger } from './base/telemetry/silent-logger.ts'

const RUNTIME_TIMEOUT_MS = 120_000
const SECOND_SIGNAL_MS = 1000
// What only new pods need.
const noNewPods = { pauseImages: [], logLimits: { maxSizeBytes: -1, maxFiles: 1 } }
// What bin/kubelet sets; the executable has no such file.
const MALLOC_SETTINGS = ['MALLOC_ARENA_MAX=1', 'MALLOC_TRIM_THRESHOLD_=131072', 'MALLOC_MMAP_THRESHOLD_=65536']
let firstSignalAt = 0
const random = () => Math.random()

// Where runc, ip and iptables are; the PATH of a login that became root may lack it.
process.env['PATH'] = [process.env['PATH'], '/usr/local/sbin', '/usr/sbin', '/sbin'].filter(Boolean).join(':')

// A careful shell may have set it to 077: then no other user could enter what the runtime unpacks, and containers of theirs would not start.
process.umask(0o022)

const deps: StandaloneDeps = {
  clock: systemClock,
  say: (line) => process.stdout.write(`${line}\n`),
  ownKubelet: isExecutable ? ['env', ...MALLOC_SETTINGS, process.execPath, 'kubelet'] : [ownFile('../bin/kubelet')],
  pid: process.pid,
  programPath: process.env['PATH'],
  userId: process.getuid?.(),
}

const ownCommand = isExecutable ? process.execPath : ownFile('../bin/deckhand')
const openOwnClient: ClientDeps['openClient'] = (kubeconfig, tasks) => openClient(random, kubeconfig, tasks)

// Built from the same sources, wherever this program itself is run from.
const pageAssets = isExecutable
  ? `${EXECUTABLE_FOLDER}page`
  : ownFile(import.meta.filename.endsWith('.ts') ? '../dist/page' : 'page')

const askRuntime = (endpoint: string, signal: AbortSignal) => askSpeaker(endpoint.replace('unix://', ''), signal)

void main().then((exitCode) => (process.exitCode = exitCode))

function ownFile(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url))
}

async function main(): Promise<ExitCode> {
  const stop = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => leave(stop, name))
  // The reader of our output may leave before we are done; the node goes on without it.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  try {
    return await runCommand(parseArguments(process.argv.slice(2), process.cwd()), stop.signal)
  } catch (error) {
    if (stop.signal.aborted && error === stop.signal.reason) return exitCodes.done
    // What was foreseen is for the user to read; the rest is for us, with where it came from.
    const text =
      error instanceof NodeError ? error.message : error instanceof Error ? (error.stack ?? error.message) : error
    process.stderr.write(`deckhand: ${String(text)}\n`)
    return error instanceof NodeError ? error.exitCode : exitCodes.failed
  }
}

/** The first signal asks us to leave; npm passes on what the terminal sends us as well, so only a late second one means "at once". */
function leave(stop: AbortController, name: NodeJS.Signals): void {
  if (!stop.signal.aborted) {
    firstSignalAt = systemClock.monotonic()
    stop.abort(new ShutdownError(`Stopped by ${name}`))
  } else if (systemClock.monotonic() - firstSignalAt > SECOND_SIGNAL_MS) {
    process.exit(exitCodes.failed)
  }
}

async function runCommand(command: Command, signal: AbortSignal): Promise<ExitCode> {
  switch (command.kind) {
    case 'up':
      await runUp(
        {
          ...deps,
          hostname: hostname(),
          random,
          isDocker: async (endpoint, s) => (await askRuntime(endpoint, s)) === 'docker',
          serveApi: (api, s) => serveApi(random, api, s),
          memory: ownMemory,
          servePage: (page, s) =>
            servePage(
              { random, assets: pageAssets, version: ownBuild?.version ?? 'from sources', ownCommand },
              page,
              s,
            ),
          isTerminal: process.stdout.isTTY,
          runScheduler: (scheduler, s) => runNodeScheduler({ ...scheduler, random }, s),
          runControllers: (controllers, s) => runNodeControllers(random, controllers, s),
          openClient: openOwnClient,
        },
        command.options,
        signal,
      )
      return exitCodes.done
    case 'detach': {
      const { runDetached } = await import('./standalone/up/detach.ts')
      const isTerminal = process.stdout.isTTY
      await runDetached({ ...deps, random, isTerminal, ownCommand, openClient: openOwnClient }, command.options, signal)
      return exitCodes.done
    }
    case 'logs': {
      const { runLogs } = await import('./standalone/logs.ts')
      await runLogs({ ...deps, write: (text) => void process.stdout.write(text) }, command.options, signal)
      return exitCodes.done
    }
    case 'images': {
      await runImagesCommand(command.options, signal)
      return exitCodes.done
    }
    case 'install':
    case 'uninstall': {
      const { runInstall, runUninstall, SYSTEMD } = await import('./standalone/install.ts')
      const install = { ...deps, ownCommand, systemd: SYSTEMD }
      await (command.kind === 'install' ? runInstall(install, command.args, signal) : runUninstall(install, signal))
      return exitCodes.done
    }
    case 'down': {
      await runDown({ ...deps, openRuntime }, command, signal)
      return exitCodes.done
    }
    case 'reset': {
      const { runReset } = await import('./standalone/reset.ts')
      await runReset({ ...deps, openRuntime }, command.options, signal)
      return exitCodes.done
    }
    case 'backup': {
      const { runBackup } = await import('./standalone/backup/run-backup.ts')
      const { copyClosedDatabase: copyDatabase } = await import('./api-server/store/inspect-backup.ts')
      await runBackup({ ...deps, openClient: openOwnClient, copyDatabase }, command.options, signal)
      return exitCodes.done
    }
    case 'restore': {
      const { runRestore } = await import('./standalone/backup/run-restore.ts')
      const { inspectBackup: inspectDatabase } = await import('./api-server/store/inspect-backup.ts')
      await runRestore({ ...deps, inspectDatabase }, command.options, signal)
      return exitCodes.done
    }
    case 'kubeconfig': {
      const { runKubeconfig } = await import('./standalone/run-kubeconfig.ts')
      await runKubeconfig(deps, command.options)
      return exitCodes.done
    }
    case 'shutdown':
      await runShutdown(deps, command.options, signal)
      return exitCodes.done
    case 'status':
      return await runStatus({ ...deps, openClient: openOwnClient, askRuntime }, command.state, signal)
    case 'page': {
      const { runPage } = await import('./standalone/page.ts')
      await runPage(deps, command.options)
      return exitCodes.done
    }
    case 'node-page': {
      const { runNodePage } = await import('./standalone/page-of-node.ts')
      const { createLogger } = await import('./base/telemetry/create-logger.ts')
      const write = (line: string) => process.stderr.write(line)
      const log = createLogger({
        format: 'text',
        program: 'page',
        verbosity: 0,
        clock: systemClock,
        pid: process.pid,
        write,
      })
      const version = ownBuild?.version ?? 'from sources'
      await runNodePage({ ...deps, random, assets: pageAssets, version, log }, command.options, signal)
      return exitCodes.done
    }
    case 'simulate': {
      const { runSimulation } = await import('./simulation/nodes/run-simulation.ts')
      const { createSimulationLog } = await import('./simulation/nodes/simulation-log.ts')
      const log = createSimulationLog({
        clock: systemClock,
        pid: process.pid,
        write: (line) => process.stderr.write(line),
      })
      const usage = () => {
        const { user, system } = process.cpuUsage()
        return { cpuMs: (user + system) / 1000, memoryBytes: process.memoryUsage.rss() }
      }
      await runSimulation({ ...deps, usage, environment: process.env, random, log }, command.options, signal)
      return exitCodes.done
    }
    case 'why':
      await runWhy({ ...deps, openClient: openOwnClient, askRuntime }, command, signal)
      return exitCodes.done
    case 'version':
      deps.say(`deckhand ${formatOwnBuild()}`)
      return exitCodes.done
    case 'help':
      deps.say(helpText(command.command))
      return exitCodes.done
    default:
      return command satisfies never
  }
}

/** A client of the node's runtime. gRPC costs time and memory that commands without one need not spend, so it is loaded here. */
async function openRuntime(runtimeEndpoint: string, signal: AbortSignal) {
  const { connectRuntime } = await import('./protocols/runtime/connect-runtime.ts')
  const client = { clock: systemClock, requestTimeoutMs: RUNTIME_TIMEOUT_MS, log: silentLogger, ...noNewPods }
  return await connectRuntime({ ...client, runtimeEndpoint }, signal)
}

async function runImagesCommand(options: ImagesOptions, signal: AbortSignal): Promise<void> {
  const [{ runImages }, { findNodeLogins }] = await Promise.all([
    import('./standalone/images/run-images.ts'),
    import('./standalone/images/find-node-logins.ts'),
  ])
  const images = {
    ...deps,
    openRuntime,
    findLogins: findNodeLogins,
    input: process.stdin,
    output: process.stdout,
    showProgress: createProgress(systemClock, process.stderr),
  }
  await runImages(images, options, signal)
}
